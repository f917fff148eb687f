// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Groups are the distinct rows of public columns, and how many rows each stands for. Their Counts
// are nil unless the label is public, too.
type Groups struct {
	engine.Groups
	Rows   []float64 // by group: how many, or what they weigh, whatever the label
	of     *Guard
	counts inside.Sealed[[][]uint64] // by class, then group; sealed if the label is protected
	open   bool                      // the counts of classes are public
}

// DistinctRows are the distinct rows of some columns: see engine.Groups.
type DistinctRows = engine.Groups

// checkColumn refuses what is no column of the table.
func (g *Guard) checkColumn(j int) error {
	if n := len(g.protects.public); j < 0 || j >= n || g.Schema().Columns[j].Role == schema.Ignored {
		return fmt.Errorf("guard: column %d must be among the %d of the schema, and read", j, n)
	}
	return nil
}

// Groups counts the rows that agree on all of cols, which must be public. One pass.
func (g *Guard) Groups(ctx context.Context, cols []int) (*Groups, error) {
	for _, j := range cols {
		if err := g.checkColumn(j); err != nil {
			return nil, err
		}
		if g.private && g.protects.column(j) {
			return nil, fmt.Errorf("guard: rows can be grouped by public columns only")
		}
	}
	if g.private && g.protects.all {
		return nil, fmt.Errorf("guard: rows can be grouped if their number is public only")
	}
	if err := g.refuseRemote("groups of rows"); err != nil {
		return nil, err
	}
	all, err := g.table().Groups(ctx, cols)
	if err != nil {
		return nil, err
	}
	out := &Groups{Groups: *all, Rows: make([]float64, all.Len), of: g, counts: inside.Seal(all.Counts),
		open: !g.private || !g.protects.label}
	units := float64(g.units)
	for _, counts := range all.Counts {
		for i, n := range counts {
			out.Rows[i] += float64(n) / units
		}
	}
	if !out.open {
		out.Counts = nil
	}
	return out, nil
}

// Classes is how many rows of each class each group has, or what they weigh. The label must be
// public.
func (gr *Groups) Classes() ([][]float64, error) {
	if !gr.open {
		return nil, fmt.Errorf("guard: rows by class must be measured, since the label is protected")
	}
	units := 1 / float64(gr.of.units)
	out := make([][]float64, len(gr.counts()))
	for class, counts := range gr.counts() {
		out[class] = make([]float64, len(counts))
		for i, n := range counts {
			out[class][i] = float64(n) * units
		}
	}
	return out, nil
}

// ClassBins is the rows of one class by bin of each of some partitions of the groups: bins[q] is the
// bin of each group, of sizes[q]; what is in another counts as nothing. A neighbour changes the label of one row, which moves one bin of
// each partition by 1.
func (gr *Groups) ClassBins(class int, bins [][]uint32, sizes []int) *Sum {
	var rows []int64
	for q, of := range bins {
		first := len(rows)
		rows = append(rows, make([]int64, sizes[q])...)
		for i, b := range of {
			if int(b) < sizes[q] { // else it would be counted in another partition, too
				rows[first+int(b)] += int64(gr.counts()[class][i])
			}
		}
	}
	parts := float64(len(bins))
	return gr.of.sum(ratios(rows, gr.of.units), Toggled(parts, math.Sqrt(parts)).Times(gr.of.most), gr.open)
}

// ClassVectors is the sum of a vector of each row of one class, whose Euclidean length is at most 1:
// each visits the groups that have one. A number is cut off towards zero after 20 bits. A vector that
// is longer than 1 even so counts as nothing.
func (gr *Groups) ClassVectors(class, size int, each func(visit func(group int, vector []float64))) *Sum {
	sum, units := make([]int64, size), make([]int64, size)
	seen := make([]bool, gr.Len)
	each(func(group int, vector []float64) {
		length := 0.0
		for i, x := range vector[:size] {
			cut := x * engine.WeightOne
			if !(math.Abs(cut) <= engine.WeightOne) { // or not a number
				return
			}
			units[i] = int64(cut)
			length += float64(units[i] * units[i])
		}
		if seen[group] || length > engine.WeightOne*engine.WeightOne {
			return
		}
		seen[group] = true
		for i, x := range units {
			sum[i] += int64(gr.counts()[class][group]) * x
		}
	})
	return gr.of.sum(ratios(sum, engine.WeightOne*gr.of.units), Toggled(math.Inf(1), 1).Times(gr.of.most), gr.open)
}

// FeatureBits is how many bits behind the point a feature has in ClassMeans.
const FeatureBits = 24

// ClassMeans is, for each of some different classes, the mean over all rows of the features of the rows of that
// class: visit lists the features of each group that are not zero, in order and of a size of at most 1;
// others count as nothing. A neighbour changes the label of one row, and so moves the mean of one class or of two
// by at most the longest of the groups' features.
func (gr *Groups) ClassMeans(classes []int, size int, visit func(each func(group, feature int, x float64))) (*Sum, error) {
	n := gr.of.Units()
	if n < 1 || gr.of.units != 1 || gr.of.relation != dp.ReplaceOne && gr.of.private {
		return nil, fmt.Errorf("guard: means need a public number of rows that count once")
	}
	if different := slices.Compact(slices.Sorted(slices.Values(classes))); len(different) < len(classes) {
		return nil, fmt.Errorf("guard: means must be of different classes")
	}
	sum := make([]int64, len(classes)*size)
	sizes, squares, next := make([]float64, gr.Len), make([]float64, gr.Len), make([]int, gr.Len)
	visit(func(group, f int, x float64) {
		if f < next[group] || f >= size || !(math.Abs(x) <= 1) {
			return
		}
		next[group] = f + 1
		q := math.RoundToEven(math.Ldexp(x, FeatureBits))
		sizes[group] += math.Abs(q)
		squares[group] += q * q
		for k, class := range classes {
			sum[k*size+f] += int64(q) * int64(gr.counts()[class][group])
		}
	})
	l1, l2 := 0.0, 0.0
	for i := range sizes { // over rows that occur, whatever their labels
		l1, l2 = max(l1, sizes[i]), max(l2, math.Sqrt(squares[i]))
	}
	if len(classes) > 1 { // the row leaves one class for another
		l1, l2 = 2*l1, l2*(math.Sqrt2*(1+0x1p-50))
	}
	mean := func(units float64) float64 { // the factor is past the rounding of a few operations
		return math.Ldexp(units, -FeatureBits) / float64(n) * (1 + 0x1p-39)
	}
	return gr.of.sum(ratios(sum, int64(n)<<FeatureBits), Toggled(mean(l1), mean(l2)), gr.open), nil
}
