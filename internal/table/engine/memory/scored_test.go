// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// boosted is a score of so many shapes, some of them of pairs, with a clip after
// the second.
func boosted(tab *dataset.Table, shapes int) (*feature.Additive, []feature.Bins) {
	f := &feature.Additive{Intercept: -0.5, Clip: &feature.Clip{Shapes: 2, Low: -0.75, High: 0.25}}
	var all []feature.Bins
	cols := tab.Schema.Features()
	for k := range shapes {
		b := feature.NewBins(tab.Schema, cols[3*k%len(cols)], []float64{3, 20, 40, 60})
		if k%4 == 3 {
			b = feature.Cross(b, all[0])
		}
		all = append(all, b)
		sh := feature.Shape{Bins: b, Steps: make([]float64, b.Len())}
		for i := range sh.Steps {
			sh.Steps[i] = math.Sin(float64(7*k + 3*i + 1))
		}
		f.Shapes = append(f.Shapes, sh)
	}
	return f, all
}

func cellsOf(t *testing.T, m engine.Table, f *feature.Additive, bins []feature.Bins) []statistic.CellSums {
	t.Helper()
	got, err := statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}.Of(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// What a table keeps of earlier questions must not show in an answer: each of
// these is answered as by a table that was asked nothing before.
func TestCellsAnswerAlikeWhateverWasAskedBefore(t *testing.T) {
	tab := censustest.Table(5, 9_000)
	fresh := func() *memory.Table {
		m, err := memory.New(tab)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	used := fresh()
	ask := func(what string, positive int, f *feature.Additive, bins []feature.Bins) {
		t.Helper()
		if got, want := cellsOf(t, used.Against(positive), f, bins),
			cellsOf(t, fresh().Against(positive), f, bins); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, a fresh table says %v", what, got, want)
		}
	}
	whole, bins := boosted(tab, 9)
	first := func(n int) *feature.Additive {
		f := *whole
		f.Shapes = whole.Shapes[:n]
		return &f
	}
	for n := range 10 {
		if n >= 2 { // the clip is of two shapes
			ask("one shape more", 1, first(n), bins[:1])
		}
	}
	ask("the same score, all columns", 1, whole, bins)
	ask("several shapes fewer", 1, first(4), bins)
	ask("several shapes more", 1, first(8), bins)
	ask("another label", 0, first(8), bins)
	ask("no score", 0, nil, bins)
	ask("the score of before", 0, whole, bins)

	other, _ := boosted(tab, 9)
	other.Intercept = 0.5
	ask("another intercept", 0, other, bins)
	other, _ = boosted(tab, 9)
	other.Clip.High = 0
	ask("another clip", 0, other, bins)
	other.Clip = nil
	ask("no clip", 0, other, bins)
	ask("no clip, again", 0, other, bins)
	other.Clip = &feature.Clip{Shapes: 9, Low: -1, High: 1}
	ask("a clip of all", 0, other, bins)

	other, _ = boosted(tab, 9)
	ask("as at first", 0, other, bins)
	for i := range other.Shapes[4].Steps {
		other.Shapes[4].Steps[i] += 0.125 // who asks may change what it asked with
	}
	ask("another step", 0, other, bins)
	other.Shapes[4].Edges[3] = 5000
	ask("another edge", 0, other, bins)
	other.Shapes[3].Second.Edges = slices.Clone(other.Shapes[3].Second.Edges)
	ask("another slice", 0, other, bins)

	far := &feature.Additive{Intercept: 3,
		Shapes: []feature.Shape{{Bins: bins[0], Steps: slices.Repeat([]float64{feature.MaxStep}, bins[0].Len())}}}
	ask("a score beyond the margins' reach", 1, far, bins)
	ask("the same, again", 1, far, bins)
	ask("and after it", 1, whole, bins)

	ask("a shorter one", 1, first(3), bins)
	if _, err := (statistic.Cells{Under: first(4), Bins: bins, Caps: statistic.FullCaps}).Of(&stopping{Context: context.Background()}, used.Against(1)); err == nil {
		t.Error("a cancelled context was not noticed")
	}
	ask("after one that was stopped on its way", 1, first(4), bins)
}

// stopping is cancelled after a few looks at it.
type stopping struct {
	context.Context
	looks atomic.Int32
}

func (s *stopping) Err() error {
	if s.looks.Add(1) > 4 {
		return context.Canceled
	}
	return nil
}

// Many who ask at once each get the answer to their own question.
func TestCellsOfManyAtOnce(t *testing.T) {
	tab := censustest.Table(5, 5_000)
	m, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	whole, bins := boosted(tab, 8)
	want := make([][]statistic.CellSums, 9)
	for n := 2; n < 9; n++ {
		f := *whole
		f.Shapes = whole.Shapes[:n]
		want[n] = cellsOf(t, m, &f, bins)
	}
	var wg sync.WaitGroup
	for n := 2; n < 9; n++ {
		wg.Go(func() {
			f := *whole
			f.Shapes = whole.Shapes[:n]
			for range 20 {
				if got, err := (statistic.Cells{Under: &f, Bins: bins, Caps: statistic.FullCaps}).Of(context.Background(), m); err != nil || !reflect.DeepEqual(got, want[n]) {
					t.Errorf("%d shapes: another answer than alone (error %v)", n, err)
				}
			}
		})
	}
	wg.Wait()
}

// The same of scores that grow by grids, and of another kind in between.
func TestSlopesAnswerAlikeWhateverWasAskedBefore(t *testing.T) {
	tab := censustest.Table(5, 5_000)
	used, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	_, bins := boosted(tab, 2)
	grid := feature.Grid{Axes: bins}
	ask := func(what string, f *statistic.StepScore) {
		t.Helper()
		fresh, err := memory.New(tab)
		if err != nil {
			t.Fatal(err)
		}
		of := statistic.GridSlopes{Under: f, Limit: statistic.SlopeLimit{Most: 1}, Grids: []feature.Grid{grid}}
		got, err1 := of.Of(t.Context(), used)
		want, err2 := of.Of(t.Context(), fresh)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other slopes than of a fresh table, %v, %v", what, err1, err2)
		}
	}
	steps := make([]float64, grid.Cells())
	for i := range steps {
		steps[i] = math.Sin(float64(i))
	}
	f, g := statistic.NewStepScore([]float64{0.5}), statistic.NewStepScore([]float64{0.5})
	for range 3 {
		ask("a term more", f)
		f.AddGrid(grid, steps)
	}
	cellsOf(t, used, &feature.Additive{Intercept: 1}, bins)
	ask("cells in between", f)
	ask("fewer terms", g)
	g.AddGrid(grid, append([]float64{9}, steps[1:]...))
	ask("another step", g)
	ask("the first again", f)
}
