// SPDX-License-Identifier: Apache-2.0

package question

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Counts by key, which are no sums of a statistic: groups of rows, and patterns of mistakes.

func (t *Table) Mistakes(
	ctx context.Context, sp *feature.Space, cs []feature.Threshold,
) (*engine.Patterns, error) {
	if err := t.checkBinary("mistakes of thresholds"); err != nil {
		return nil, err
	}
	s, err := t.ask(ctx, Question{Kind: Mistakes, Space: sp, Thresholds: cs}, -1)
	if err != nil {
		return nil, err
	}
	return &engine.Patterns{Words: (len(cs) + 63) / 64, Bits: s.Keys, Count: s.Counts}, nil
}

func (t *Table) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	g := &engine.Groups{Cols: make([]column.Column, len(t.schema.Columns)),
		Counts: make([][]uint64, t.schema.Classes())}
	s, err := t.ask(ctx, Question{Kind: Groups, Columns: cols}, -1)
	if err != nil {
		return nil, err
	}
	g.Len = s.Len()
	codes, values, sizes := t.codeKeys(s, cols)
	order := orderOfGroups(codes, sizes, g.Len)
	for k, j := range cols {
		sorted := make([]uint32, g.Len)
		for i, at := range order {
			sorted[i] = codes[k][at]
		}
		g.Cols[j] = column.Column{Codes: column.Narrow(sorted, sizes[k]), Values: values[k]}
		if c := &t.schema.Columns[j]; c.Marks() > 0 {
			g.Cols[j].TakeMarks(c.Clamp(*c.Default))
		}
	}
	for class := range g.Counts {
		g.Counts[class] = make([]uint64, g.Len)
		for i, at := range order {
			g.Counts[class][i] = s.countsAt(at)[class]
		}
	}
	return g, nil
}

// codeKeys turns keys back into codes of columns, numbers' into those of a dictionary of all.
func (t *Table) codeKeys(s *Sums, cols []int) (codes [][]uint32, values [][]float64, sizes []int) {
	for k, j := range cols {
		words := make([]uint64, s.Len())
		for i := range words {
			words[i] = s.keyAt(i)[k]
		}
		own, size := make([]uint32, len(words)), t.schema.Columns[j].Codes()
		var dictionary []float64
		if t.schema.Columns[j].Kind == schema.Category {
			for i, w := range words {
				own[i] = uint32(w)
			}
		} else {
			distinct := slices.Compact(slices.Sorted(slices.Values(words)))
			size = len(distinct)
			for i, w := range words {
				at, _ := slices.BinarySearch(distinct, w)
				own[i] = uint32(at)
			}
			for _, w := range distinct {
				dictionary = append(dictionary, fromOrdered(w))
			}
		}
		codes, values, sizes = append(codes, own), append(values, dictionary), append(sizes, size)
	}
	return codes, values, sizes
}

// orderOfGroups is the order of groups by their packed keys.
func orderOfGroups(codes [][]uint32, sizes []int, n int) []int {
	fields, keyBits := engine.PackKeys(sizes)
	words := (keyBits + 63) / 64
	keys, order := make([]uint64, n*words), make([]int, n)
	for i := range order {
		order[i] = i
		for k, f := range fields {
			keys[i*words+f.Word] |= uint64(codes[k][i]) << f.Shift
		}
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(keys[a*words:][:words], keys[b*words:][:words]) })
	return order
}

// mergeKeys is a and b, which it uses up, added up by key. Plain sums are a's.
func mergeKeys(a, b *Sums) *Sums {
	out := &Sums{Plain: a.Plain, Words: a.Words, Counters: a.Counters, Keys: make([]uint64, 0, len(a.Keys)+len(b.Keys)),
		Counts: make([]uint64, 0, len(a.Counts)+len(b.Counts))}
	for a.Len() > 0 && b.Len() > 0 {
		first := a
		switch slices.Compare(a.keyAt(0), b.keyAt(0)) {
		case 0:
			for c, n := range a.countsAt(0) {
				b.Counts[c] += n
			}
			a.cutFirst()
			continue
		case 1:
			first = b
		}
		out.Keys, out.Counts = append(out.Keys, first.keyAt(0)...), append(out.Counts, first.countsAt(0)...)
		first.cutFirst()
	}
	out.Keys = append(append(out.Keys, a.Keys...), b.Keys...)
	out.Counts = append(append(out.Counts, a.Counts...), b.Counts...)
	return out
}

func (s *Sums) cutFirst() { s.Keys, s.Counts = s.Keys[s.Words:], s.Counts[s.Counters:] }

func (s *Sums) keyAt(i int) []uint64    { return s.Keys[i*s.Words:][:s.Words] }
func (s *Sums) countsAt(i int) []uint64 { return s.Counts[i*s.Counters:][:s.Counters] }

// sumsOfGroups has a key word for each column: a category's code, or a number's bits such that
// they are in the order of the numbers. So keys mean the same in every part of a table.
func sumsOfGroups(g *engine.Groups, cols []int, classes int) *Sums {
	words := max(1, len(cols))
	keys := make([][]uint64, g.Len)
	order := make([]int, g.Len)
	for i := range keys {
		order[i] = i
		key := make([]uint64, words)
		for k, j := range cols {
			key[k] = uint64(g.Cols[j].Codes.At(i))
			if g.Cols[j].Values != nil {
				key[k] = orderedBits(g.Cols[j].MarkedValue(uint32(key[k])))
			}
		}
		keys[i] = key
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(keys[a], keys[b]) })
	out := &Sums{Words: words, Counters: classes}
	for _, i := range order {
		out.Keys = append(out.Keys, keys[i]...)
		for class := range classes {
			out.Counts = append(out.Counts, g.Counts[class][i])
		}
	}
	return out
}

// orderedBits are bits of x, not NaN, that are in the order of the numbers.
func orderedBits(x float64) uint64 {
	b := math.Float64bits(x)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// fromOrdered is the number of these orderedBits.
func fromOrdered(b uint64) float64 {
	if b>>63 == 0 {
		return math.Float64frombits(^b)
	}
	return math.Float64frombits(b &^ (1 << 63))
}
