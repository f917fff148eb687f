// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Slopes of a row: a cell's length moves by the row's own, so a choice's scores of
// two grids may part by twice that, and by four times if a row is replaced.
func TestLengthSpreadIsThatOfTheScores(t *testing.T) {
	for relation, want := range map[dp.Relation]float64{dp.AddRemove: 2, dp.ReplaceOne: 4} {
		if got := LengthSpread(relation, 1); !(got >= want && got < want*1.001) {
			t.Errorf("%s: spread %g, want %g", relation, got, want)
		}
	}
	one := int64(engine.WeightOne)
	for _, norm := range []statistic.SlopeNorm{statistic.SlopesL1, statistic.SlopesL2} {
		// The row's slope of one balances another row's in the first grid alone.
		first := statistic.GridSums{Slopes: []int64{one, 0}, Curves: []int64{0, 0}}
		second := statistic.GridSums{Slopes: []int64{0, 0}, Curves: []int64{0, 0}}
		if d := sumLengths(&first, norm) - sumLengths(&second, norm); d != one {
			t.Errorf("a slope of one is %d units of length", d)
		}
		three := statistic.GridSums{Slopes: []int64{3 * one, -4 * one, 0, 12 * one, 0, -5 * one}, Curves: []int64{0, 0}}
		want := map[statistic.SlopeNorm]int64{statistic.SlopesL1: 24 * one, statistic.SlopesL2: 18 * one}[norm]
		if got := sumLengths(&three, norm); got != want {
			t.Errorf("length %d, want %d", got, want)
		}
	}
}

// Declared moves by hand: rows whose slopes are as long as can be and opposite.
func TestSlopeMovesByHand(t *testing.T) {
	for _, c := range []struct {
		relation dp.Relation
		scope    dp.Scope
		l1, l2   float64
	}{
		{dp.AddRemove, dp.WholeRow, 0.85, math.Hypot(0.6, 0.25)},
		{dp.ReplaceOne, dp.WholeRow, 1.7, math.Hypot(1.2, 0.25)},
		{dp.ReplaceOne, dp.PrivateFeatures, 1.7, math.Sqrt2 * math.Hypot(0.6, 0.25)},
	} {
		m := SlopeMoves(c.relation, c.scope, 0.6, 0.25)
		l1, l2 := m.L1, m.L2
		if math.Abs(l1-c.l1) > 1e-9 || math.Abs(l2-c.l2) > 1e-9 || l1 < c.l1 || l2 < c.l2 {
			t.Errorf("%s, %s: moves by %g and %g, want %g and %g", c.relation, c.scope, l1, l2, c.l1, c.l2)
		}
	}
}

// By hand: slopes that one column says, or two that are added up, lead by nothing; a
// product leads by all of it.
func TestLeadByHand(t *testing.T) {
	bins := func(parts int) feature.Bins { return feature.NewGroups(0, nil, parts) }
	square := &feature.Grid{Axes: []feature.Bins{bins(2), bins(2)}}
	for _, c := range []struct {
		name   string
		grid   *feature.Grid
		slopes []int64
		cells  int
		want   int64
	}{
		{"nothing", square, []int64{0, 0, 0, 0}, 4, 0},
		{"the first column", square, []int64{5, -5, 5, -5}, 4, -20},
		{"all rows alike", square, []int64{5, 5, 5, 5}, 4, -20},
		{"both columns", square, []int64{10, 0, 0, -10}, 4, -20},
		{"their product", square, []int64{5, -5, -5, 5}, 4, 20},
		{"two classes of three", square, []int64{3, 4, -3, -4, -3, -4, 3, 4}, 4, 20},
		{"three columns", &feature.Grid{Axes: []feature.Bins{bins(2), bins(2), bins(2)}},
			[]int64{1, -1, -1, 1, -1, 1, 1, -1}, 8, 8},
		{"a product of two of three", &feature.Grid{Axes: []feature.Bins{bins(2), bins(2), bins(2)}},
			[]int64{1, -1, -1, 1, 1, -1, -1, 1}, 8, -8},
		{"a mark counts with what is above the cut", &feature.Grid{Axes: []feature.Bins{bins(3), bins(2)}},
			[]int64{2, -1, -1, -2, 1, 1}, 6, 8},
	} {
		got := leadOf(c.grid, &statistic.GridSums{Slopes: c.slopes, Curves: make([]int64, c.cells)})
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A row moves leads by two of its lengths, up or down, and by no more: that is the
// declared spread.
func TestSpreadIsThatOfTheLeads(t *testing.T) {
	square := &feature.Grid{Axes: []feature.Bins{feature.NewGroups(0, nil, 2), feature.NewGroups(1, nil, 2)}}
	lead := func(slopes []int64) int64 {
		return leadOf(square, &statistic.GridSums{Slopes: slopes, Curves: make([]int64, 4)})
	}
	const most = 0.5
	const one = int64(most * engine.WeightOne)
	src := replay.Seeded(1, "leads")
	least, greatest := int64(0), int64(0)
	for range 20_000 {
		before := make([]int64, 4)
		for i := range before {
			before[i] = (int64(rng.Below(src, 41)) - 20) * one
		}
		after := append([]int64(nil), before...)
		sign := 1 - 2*int64(rng.Below(src, 2))
		after[rng.Below(src, 4)] += sign * one
		d := lead(after) - lead(before)
		least, greatest = min(least, d), max(greatest, d)
	}
	if least != -2*one || greatest != 2*one {
		t.Errorf("a row moves leads by %d to %d, want ±%d", least, greatest, 2*one)
	}
	for relation, rows := range map[dp.Relation]float64{dp.AddRemove: 1, dp.ReplaceOne: 2} {
		want := rows * float64(greatest-least) / engine.WeightOne
		if got := 2 * LengthSpread(relation, most); !(got >= want && got < want*1.001) {
			t.Errorf("%s: %g from the least to the greatest, want %g", relation, got, want)
		}
	}
}
