// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// leveled is random with a label of three levels.
func leveled(seed uint64, rows int) *dataset.Table {
	t := random(seed, rows)
	t.Schema.Label.Levels = append(t.Schema.Label.Levels, schema.Level{Value: "2"})
	t.Schema.Label.Positive = -1
	src := replay.Seeded(seed, "levels")
	for i := range t.Labels {
		t.Labels[i] = uint8(rng.Below(src, 3))
	}
	return t
}

// recoded is what Against must look like: t with other labels, each row as many
// times as its label's weight says (nil: once).
func recoded(t *dataset.Table, level int, weights []float64) *dataset.Table {
	var rows []int
	for i, label := range t.Labels {
		times := 1
		if weights != nil {
			times = int(weights[label])
		}
		for range times {
			rows = append(rows, i)
		}
	}
	out := t.Subset(rows)
	s := *t.Schema
	s.Label.Levels, s.Label.Positive = s.Label.Levels[:2], 1
	out.Schema = &s
	out.Labels = make([]uint8, len(rows))
	for i, r := range rows {
		if int(t.Labels[r]) == level {
			out.Labels[i] = 1
		}
	}
	return out
}

func TestAgainstEqualsRecodedLabels(t *testing.T) {
	ctx := context.Background()
	tab := leveled(1, 5000)
	whole := open(t, tab)
	sp, err := feature.NewSpace(tab.Schema, feature.OneHot, []int{0, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	coef := make([]float64, sp.Width()+1)
	for f := range coef {
		coef[f] = math.Sin(float64(f))
	}
	near := func(what string, got, want []float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
		}
		for i := range got {
			if !(math.Abs(got[i]-want[i]) <= 1e-8) {
				t.Errorf("%s: number %d is %g, want %g", what, i, got[i], want[i])
			}
		}
	}
	for level := range 3 {
		view := whole.Against(level)
		twin := open(t, recoded(tab, level, nil))
		if s := view.Schema(); s.Classes() != 2 || s.Label.Positive != 1 ||
			s.Label.Levels[1].Value != tab.Schema.Label.Levels[level].Value {
			t.Errorf("level %d: the view's label is %+v", level, s.Label)
		}
		cs := thresholds(7, sp, 5)
		got, err := view.Mistakes(ctx, sp, cs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := twin.Mistakes(ctx, sp, cs)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Bits, want.Bits) || !slices.Equal(got.Count, want.Count) {
			t.Errorf("level %d: other mistakes than of recoded labels", level)
		}
		groups, err := view.Groups(ctx, []int{1, 3})
		if err != nil {
			t.Fatal(err)
		}
		wantGroups, err := twin.Groups(ctx, []int{1, 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(groups.Counts) != 2 || !slices.Equal(groups.Counts[0], wantGroups.Counts[0]) ||
			!slices.Equal(groups.Counts[1], wantGroups.Counts[1]) {
			t.Errorf("level %d: other groups than of recoded labels", level)
		}
		cells, err := statistic.Cells{Bins: []feature.Bins{feature.NewBins(tab.Schema, 1, nil)}, Caps: statistic.FullCaps}.Of(ctx, view)
		if err != nil {
			t.Fatal(err)
		}
		wantCells, err := statistic.Cells{Bins: []feature.Bins{feature.NewBins(tab.Schema, 1, nil)}, Caps: statistic.FullCaps}.Of(ctx, twin)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cells[0].Positive, wantCells[0].Positive) ||
			!slices.Equal(cells[0].Negative, wantCells[0].Negative) {
			t.Errorf("level %d: other cells than of recoded labels", level)
		}
		sums, err := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 1, Norm: math.MaxFloat64}, Coef: coef,
			Value: true, Hess: true}.Floats(ctx, view)
		if err != nil {
			t.Fatal(err)
		}
		wantSums, err := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 1, Norm: math.MaxFloat64}, Coef: coef,
			Value: true, Hess: true}.Floats(ctx, twin)
		if err != nil {
			t.Fatal(err)
		}
		near("logistic gradient", sums.Grad, wantSums.Grad)

		// Weights are those of the three levels, whichever two the view has; asked
		// without them again, the table has not kept them.
		for _, weights := range [][]float64{nil, {1, 2, 3}, {3, 1, 2}, nil} {
			twin := open(t, recoded(tab, level, weights))
			for _, norm := range []float64{0.5, 0.4} {
				r := engine.Rows{Scale: 0.5, Norm: norm, Weights: weights}
				got, err := solver.Losses{Space: sp, Rows: r, Coef: coef, Value: true, Hess: true}.Floats(ctx, view)
				if err != nil {
					t.Fatal(err)
				}
				want, err := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 0.5, Norm: norm}, Coef: coef,
					Value: true, Hess: true}.Floats(ctx, twin)
				if err != nil {
					t.Fatal(err)
				}
				near("loss", []float64{got.Loss}, []float64{want.Loss})
				near("gradient", got.Grad, want.Grad)
				near("hessian", got.Hess, want.Hess)
				laid, err := view.Margins(ctx, sp, r)
				if err != nil {
					t.Fatal(err)
				}
				if got, err = laid.Sums(ctx, engine.Loss{}, coef, true); err != nil {
					t.Fatal(err)
				}
				near("gradient of margins", got.Grad, want.Grad)
				near("hessian of margins", got.Hess, want.Hess)
			}
		}
	}
}

// A table of three levels is no binary one, and its views are not to be split
// again.
func TestThreeLevelsAreNotTwo(t *testing.T) {
	ctx := context.Background()
	tab := leveled(2, 50)
	whole := open(t, tab)
	sp, err := feature.NewSpace(tab.Schema, feature.Ordinal, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	coef := []float64{0, 0}
	_, mistakes := whole.Mistakes(ctx, sp, thresholds(1, sp, 1))
	_, cells := statistic.Cells{Caps: statistic.FullCaps}.Of(ctx, whole)
	_, logistic := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 1, Norm: math.MaxFloat64}, Coef: coef,
		Value: true, Hess: true}.Floats(ctx, whole)
	_, sums := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 1, Norm: 1}, Coef: coef,
		Value: true, Hess: true}.Floats(ctx, whole)
	_, margins := whole.Margins(ctx, sp, engine.Rows{Scale: 1, Norm: 1})
	for what, err := range map[string]error{"mistakes": mistakes, "cells": cells, "logistic sums": logistic,
		"margin sums": sums, "margins": margins} {
		if err == nil {
			t.Errorf("%s of three levels were answered", what)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a view was split again")
		}
	}()
	whole.Against(0).Against(0)
}

// The default of an unreadable private label is on its side of the view.
func TestAgainstKeepsTheDefault(t *testing.T) {
	tab := leveled(3, 5)
	tab.Schema.Label.Role, tab.Schema.Label.Default = schema.Private, 2
	whole := open(t, tab)
	for level, want := range []int{0, 0, 1} {
		if got := whole.Against(level).Schema().Label.Default; got != want {
			t.Errorf("level %d: default %d, want %d", level, got, want)
		}
	}
}

// The layout is kept, but neither the labels nor the weights it was last asked
// with.
func TestMarginsKeepTheRowsOnly(t *testing.T) {
	ctx := context.Background()
	tab := leveled(4, 3000)
	whole := open(t, tab)
	sp, err := feature.NewSpace(tab.Schema, feature.OneHot, []int{0, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	coef := make([]float64, sp.Width()+1)
	weightings := [][]float64{nil, {1, 2, 3}}
	for round := range 2 { // level by level, then weights by weights
		for turn := range 6 {
			level, weights := turn%3, weightings[turn/3]
			if round == 1 {
				level, weights = turn/2, weightings[turn%2]
			}
			view := whole.Against(level)
			r := engine.Rows{Scale: 0.5, Norm: 0.5, Weights: weights}
			laid, err := view.Margins(ctx, sp, r)
			if err != nil {
				t.Fatal(err)
			}
			got, err1 := laid.Sums(ctx, engine.Loss{}, coef, false)
			want, err2 := solver.Losses{Space: sp, Rows: r, Coef: coef, Value: true, Hess: true}.Floats(ctx, view)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for f := range want.Grad {
				if !(math.Abs(got.Grad[f]-want.Grad[f]) <= 1e-8) {
					t.Fatalf("round %d, level %d, weights %g: gradient %d is %g, want %g", round, level, weights, f, got.Grad[f],
						want.Grad[f])
				}
			}
		}
	}
}
