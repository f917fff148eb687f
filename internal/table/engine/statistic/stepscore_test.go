// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// A number of a row is held within its bound when it starts and after each term.
func TestScoresAreHeldWithinTheirBound(t *testing.T) {
	one := feature.Grid{Axes: []feature.Bins{feature.NewGroups(0, []uint32{0}, 1)}}
	for _, c := range []struct {
		start, first, second int64
		want                 int32
	}{
		{MaxScore - 1, 0, 0, MaxScore - 1}, {MaxScore, 0, 0, MaxScore}, {MaxScore + 1, 0, 0, MaxScore},
		{-MaxScore + 1, 0, 0, -MaxScore + 1}, {-MaxScore - 1, 0, 0, -MaxScore}, {-1 << 63, 0, 0, -MaxScore},
		{MaxScore, 5, -5, MaxScore - 5}, {0, -MaxScore - 7, 7, -MaxScore + 7},
	} {
		f := &StepScore{[]int64{c.start}, []StepTerm{{one, []int64{c.first}}, {one, []int64{c.second}}}}
		run := &engine.Run{Cols: []column.Column{{Codes: column.Narrow([]uint32{0}, 1)}}, Labels: []uint8{0},
			Scores: []int32{0}}
		f.Scorer(run, 0)()
		if run.Scores[0] != c.want {
			t.Errorf("%+v: %d", c, run.Scores[0])
		}
	}
}

// A kept score is not that which grew from it, and extends no other.
func TestKeptScoresStayAsTheyAre(t *testing.T) {
	grid := feature.Grid{Axes: []feature.Bins{feature.NewGroups(0, []uint32{0, 1}, 2)}}
	f := NewStepScore([]float64{1})
	f.Terms = slices.Grow(f.Terms, 9)
	f.AddGrid(grid, []float64{1, 2})
	kept := f.Keep()
	f.AddGrid(grid, []float64{3, 4})
	other := NewStepScore([]float64{1})
	other.AddGrid(grid, []float64{1, 5})
	elsewhere := NewStepScore([]float64{1})
	elsewhere.AddGrid(feature.Grid{Axes: []feature.Bins{feature.NewGroups(0, []uint32{1, 0}, 2)}}, []float64{1, 2})
	if kept.Len() != 1 || elsewhere.Extends(kept) || !f.Extends(kept) || kept.Extends(f) || other.Extends(kept) || NewStepScore([]float64{2}).Extends(kept) ||
		f.Extends(margins{&feature.Additive{}}) || !f.Extends(NewStepScore([]float64{1})) || f.Extends(NewStepScore([]float64{2})) {
		t.Error("a score extends another than it grew from")
	}
}
