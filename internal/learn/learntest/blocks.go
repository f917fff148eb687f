// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"context"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// blocks is an engine whose rows lie in several tables: every question whose answer is integers
// is asked of each of them, and the answers are added. Sums of floating-point numbers, whose last
// bits depend on the order of additions, are left to one table of all rows.
type blocks struct {
	engine.Table
	parts []engine.Table
}

// Blocks answers from the rows of tab cut into so many runs of different lengths.
func Blocks(t testing.TB, tab *dataset.Table, count int) engine.Table {
	t.Helper()
	b := &blocks{Table: Engine(t, tab)}
	from := 0
	for k := range count {
		to := tab.Rows * (k + 1) * (k + 1) / (count * count)
		var rows []int
		for ; from < to; from++ {
			rows = append(rows, from)
		}
		b.parts = append(b.parts, Engine(t, tab.Subset(rows)))
	}
	slices.Reverse(b.parts) // their order is of no account
	return b
}

// addAnswers asks every block, and adds what it answers to the first answer.
func addAnswers[A any](parts []engine.Table, ask func(engine.Table) (A, error),
	add func(sum *A, more A)) (sum A, err error) {
	for k, part := range parts {
		answer, err := ask(part)
		if err != nil {
			return sum, err
		}
		if k == 0 {
			sum = answer
		} else {
			add(&sum, answer)
		}
	}
	return sum, nil
}

func addCounts(sum, more []uint64) {
	for i, n := range more {
		sum[i] += n
	}
}

func addLists(sum, more [][]uint64) {
	for k := range more {
		addCounts(sum[k], more[k])
	}
}

func (b *blocks) Against(class int) engine.Table {
	view := &blocks{Table: b.Table.Against(class)}
	for _, part := range b.parts {
		view.parts = append(view.parts, part.Against(class))
	}
	return view
}

func (b *blocks) Mistakes(
	ctx context.Context, sp *feature.Space, cs []feature.Threshold,
) (*engine.Patterns, error) {
	answers, err := addAnswers(b.parts, func(t engine.Table) ([]*engine.Patterns, error) {
		p, err := t.Mistakes(ctx, sp, cs)
		return []*engine.Patterns{p}, err
	}, func(sum *[]*engine.Patterns, more []*engine.Patterns) { *sum = append(*sum, more...) })
	if err != nil {
		return nil, err
	}
	words := answers[0].Words
	keys, counts := mergeKeys(answers, func(p *engine.Patterns) int { return len(p.Count) },
		func(p *engine.Patterns, i int) ([]uint64, []uint64) {
			return p.Bits[i*words:][:words], p.Count[i : i+1]
		})
	out := &engine.Patterns{Words: words}
	for i := range keys {
		out.Bits, out.Count = append(out.Bits, keys[i]...), append(out.Count, counts[i]...)
	}
	return out, nil
}

func (b *blocks) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	answers, err := addAnswers(b.parts, func(t engine.Table) ([]*engine.Groups, error) {
		g, err := t.Groups(ctx, cols)
		return []*engine.Groups{g}, err
	}, func(sum *[]*engine.Groups, more []*engine.Groups) { *sum = append(*sum, more...) })
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(cols))
	for k, j := range cols {
		if sizes[k] = b.Schema().Columns[j].Codes(); answers[0].Cols[j].Values != nil {
			sizes[k] = len(answers[0].Cols[j].Values)
		}
	}
	fields, keyBits := engine.PackKeys(sizes)
	keys, counts := mergeKeys(answers, func(g *engine.Groups) int { return g.Len },
		func(g *engine.Groups, i int) (key, count []uint64) {
			key = make([]uint64, (keyBits+63)/64)
			for k, j := range cols {
				key[fields[k].Word] |= uint64(g.Cols[j].Codes.At(i)) << fields[k].Shift
			}
			for _, of := range g.Counts {
				count = append(count, of[i])
			}
			return key, count
		})
	first := answers[0]
	out := &engine.Groups{
		Cols: make([]column.Column, len(first.Cols)), Len: len(keys), Counts: make([][]uint64, len(first.Counts)),
	}
	for k, j := range cols {
		codes := make([]uint32, len(keys))
		for i := range keys {
			codes[i] = uint32(keys[i][fields[k].Word] >> fields[k].Shift & (1<<fields[k].Width - 1))
		}
		out.Cols[j] = column.Column{Codes: column.Narrow(codes, sizes[k]), Values: first.Cols[j].Values}
	}
	for i := range counts {
		for class, n := range counts[i] {
			out.Counts[class] = append(out.Counts[class], n)
		}
	}
	return out, nil
}

// mergeKeys adds the counts of equal keys in several answers, and lists the keys in their order.
func mergeKeys[A any](
	answers []A, length func(A) int, at func(A, int) (key, counts []uint64),
) (keys, counts [][]uint64) {
	type entry struct{ key, counts []uint64 }
	var all []entry
	for _, a := range answers {
		for i := range length(a) {
			key, counts := at(a, i)
			all = append(all, entry{key, slices.Clone(counts)})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return slices.Compare(a.key, b.key) })
	for _, e := range all {
		if n := len(keys); n > 0 && slices.Equal(keys[n-1], e.key) {
			addCounts(counts[n-1], e.counts)
			continue
		}
		keys, counts = append(keys, e.key), append(counts, e.counts)
	}
	return keys, counts
}

func (b *blocks) Cells(ctx context.Context, f *feature.Additive, bins []feature.Bins) ([]engine.CellSums, error) {
	return addAnswers(b.parts, func(t engine.Table) ([]engine.CellSums, error) { return t.Cells(ctx, f, bins) },
		func(sum *[]engine.CellSums, more []engine.CellSums) {
			for q := range more {
				addCounts((*sum)[q].Positive, more[q].Positive)
				addCounts((*sum)[q].Negative, more[q].Negative)
			}
		})
}

func (b *blocks) ClassCells(ctx context.Context, bins []feature.Bins) ([]engine.ClassCells, error) {
	return addAnswers(b.parts, func(t engine.Table) ([]engine.ClassCells, error) { return t.ClassCells(ctx, bins) },
		func(sum *[]engine.ClassCells, more []engine.ClassCells) {
			for q := range more {
				addLists((*sum)[q].Rows, more[q].Rows)
			}
		})
}

func (b *blocks) ClassSlope(
	ctx context.Context, f *engine.ClassScore, sh *feature.LevelShape, most float64,
) (engine.ClassSlope, error) {
	return addAnswers(b.parts,
		func(t engine.Table) (engine.ClassSlope, error) { return t.ClassSlope(ctx, f, sh, most) },
		func(sum *engine.ClassSlope, more engine.ClassSlope) {
			sum.Gain, sum.HalfCurve = sum.Gain+more.Gain, sum.HalfCurve+more.HalfCurve
		})
}

func (b *blocks) ClassResiduals(
	ctx context.Context, f *engine.ClassScore, bins *feature.Bins,
) (engine.ClassResiduals, error) {
	return addAnswers(b.parts,
		func(t engine.Table) (engine.ClassResiduals, error) { return t.ClassResiduals(ctx, f, bins) },
		func(sum *engine.ClassResiduals, more engine.ClassResiduals) {
			addLists(sum.Above, more.Above)
			addLists(sum.Below, more.Below)
		})
}
