// SPDX-License-Identifier: Apache-2.0

package feature

import "sort"

// scored is a score taken for a column.
type scored struct {
	of    *Additive
	edges []int64 // in units of 1/ScoreOne nat, not decreasing
}

// CutScore cuts the scores of rows under f at edges, in nats and not decreasing, as if they were
// the numbers of a column: bin b holds edges[b-1] ≤ score < edges[b]. A row lies in one bin, which
// follows from its cells and f alone. It does not copy f.
func CutScore(f *Additive, edges []float64) Bins {
	s := &scored{of: f}
	for _, e := range edges {
		s.edges = append(s.edges, Units(e))
	}
	return Bins{scored: s}
}

// OfColumn reports whether the bins are those of the cells of one column, Column.
func (b *Bins) OfColumn() bool { return b.Second == nil && b.scored == nil }

// boundScored finds the bins of the rows of one table.
type boundScored struct {
	of    *BoundAdditive
	edges []int64
}

// read writes the bins of rows from, from+1, ... into out.
func (b *boundScored) read(from int, out []uint32) {
	scores := make([]int64, len(out))
	b.of.Scores(from, scores, make([]uint32, 2*len(out)))
	for i, z := range scores {
		out[i] = uint32(sort.Search(len(b.edges), func(k int) bool { return z < b.edges[k] }))
	}
}
