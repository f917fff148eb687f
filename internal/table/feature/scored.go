// SPDX-License-Identifier: Apache-2.0

package feature

import "math/bits"

// Scored is a score that is used as a column.
type Scored struct {
	Of    *Additive
	Edges []int64 // in units of 1/ScoreOne nat, not decreasing
}

// CutScore divides the scores of rows under f at edges, in nats and not decreasing, like the numbers
// of a column: bin b holds edges[b-1] ≤ score < edges[b]. The bin of a row depends only on its cells
// and f. CutScore does not copy f.
func CutScore(f *Additive, edges []float64) Bins {
	s := &Scored{Of: f}
	for _, e := range edges {
		s.Edges = append(s.Edges, Units(e))
	}
	return Bins{Scored: s}
}

// OfColumn reports whether the bins are those of the single column Column.
func (b *Bins) OfColumn() bool { return b.Second == nil && b.Scored == nil }

// boundScored finds the bins of the rows of one table.
type boundScored struct {
	of    *BoundAdditive
	edges []int64
}

// scoredBatch is the number of rows that are scored at a time, in stack memory.
const scoredBatch = 256

// read writes the bins of rows from, from+1, ... to out.
func (b *boundScored) read(from int, out []uint32) {
	var scores [scoredBatch]int64
	var spare [2 * scoredBatch]uint32
	for len(out) > 0 {
		n := min(len(out), scoredBatch)
		b.of.Scores(from, scores[:n], spare[:2*n])
		for i, z := range scores[:n] {
			out[i] = b.binOf(z)
		}
		from, out = from+n, out[n:]
	}
}

// binOf returns the number of edges that are at most z. The binary search has no branches, because
// rows are too irregular to predict.
func (b *boundScored) binOf(z int64) uint32 {
	at := 0
	for n := len(b.edges); n > 0; n /= 2 {
		half := (n + 1) / 2
		_, below := bits.Sub64(ascending(z), ascending(b.edges[at+half-1]), 0)
		at += half & (int(below) - 1)
	}
	return uint32(at)
}

// ascending maps signed to unsigned integers in the same order.
func ascending(z int64) uint64 { return uint64(z) ^ 1<<63 }

// Columns lists the columns that the bin of a row depends on, each as often as it is used.
func (b *Bins) Columns() (columns []int) {
	if b.Scored != nil {
		for k := range b.Scored.Of.Shapes {
			columns = append(columns, b.Scored.Of.Shapes[k].Columns()...)
		}
		if b.Second != nil {
			columns = append(columns, b.Second.Columns()...)
		}
		return columns
	}
	columns = []int{b.Column}
	if b.Second != nil {
		columns = append(columns, b.Second.Columns()...)
	}
	return columns
}
