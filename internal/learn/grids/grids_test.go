// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// setting is a parameter set and the schema it is for.
type setting struct {
	classes int
	change  func(*Params, *schema.Schema)
}

// settings are what most tests walk through.
func settings() map[string]setting {
	addRemove := func(p *Params, s *schema.Schema) { p.Rows = 300; allPrivate(p, s); s.Relation = dp.AddRemove }
	delta := func(p *Params, s *schema.Schema) { p.Delta = 1e9 }
	return map[string]setting{
		"partly private":           {2, func(*Params, *schema.Schema) {}},
		"partly private, gaussian": {2, delta},
		"replace-one":              {2, allPrivate},
		"add-remove":               {2, addRemove},
		"add-remove, gaussian":     {2, func(p *Params, s *schema.Schema) { addRemove(p, s); delta(p, s) }},
		"replace-one, gaussian":    {2, func(p *Params, s *schema.Schema) { allPrivate(p, s); delta(p, s) }},
		"classes":                  {4, allPrivate},
		"classes, gaussian":        {4, func(p *Params, s *schema.Schema) { allPrivate(p, s); delta(p, s) }},
		"classes, partly private":  {4, delta},
		"classes, add-remove":      {4, func(p *Params, s *schema.Schema) { addRemove(p, s); delta(p, s) }},
		"eps inf":                  {2, func(p *Params, s *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true }},
		"eps inf, classes":         {4, func(p *Params, s *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true }},
	}
}

func allPrivate(_ *Params, s *schema.Schema) {
	s.Label.Role, s.Label.Default = schema.Private, 0
	for j := range s.Columns {
		s.Columns[j].Role = schema.Private
		if d := s.Columns[j].Lower; s.Columns[j].Kind == schema.Number {
			s.Columns[j].Default = &d
		}
	}
}

// with is the census table of the given size and a plan for one setting.
func with(c setting, rows int) (*dataset.Table, func() (learn.Plan, error)) {
	tab := census.Generate(11, rows)
	if c.classes > 2 {
		tab = learntest.Levels(tab, c.classes, nil)
	}
	s := *tab.Schema
	s.Columns = slices.Clone(s.Columns)
	tab.Schema = &s
	p := Params{Epsilon: dp.Nano, Rounds: 6}
	c.change(&p, &s)
	known := rows
	if s.Relation == dp.AddRemove {
		known = 0
	}
	return tab, func() (learn.Plan, error) { return p.Plan(&s, known) }
}

func TestConformance(t *testing.T) {
	for name, c := range settings() {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(c, 300)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true})
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	tab, _ := with(settings()["partly private"], 10)
	for _, c := range []struct {
		name   string
		change func(*Params, *schema.Schema)
		param  string
	}{
		{"no epsilon", func(p *Params, s *schema.Schema) { p.Epsilon = 0 }, "epsilon"},
		{"epsilon without privacy", func(p *Params, s *schema.Schema) { p.NotPrivate = true }, "epsilon"},
		{"epsilon too small to divide", func(p *Params, s *schema.Schema) { p.Epsilon = 5 }, "epsilon"},
		{"delta of one", func(p *Params, s *schema.Schema) { p.Delta = dp.Femto }, "delta"},
		{"delta below 0", func(p *Params, s *schema.Schema) { p.Delta = -1 }, "delta"},
		{"delta of 1/rows", func(p *Params, s *schema.Schema) { p.Rows, p.Delta = 10, dp.Femto/10 }, "delta"},
		{"rows below 0", func(p *Params, s *schema.Schema) { p.Rows = -1 }, "rows"},
		{"rounds below 0", func(p *Params, s *schema.Schema) { p.Rounds = -1 }, "rounds"},
		{"too many rounds", func(p *Params, s *schema.Schema) { p.Rounds = maxRounds + 1 }, "rounds"},
		{"weights", func(p *Params, s *schema.Schema) { s.Label.Weights = []float64{1, 2} }, "weights"},
		{"pairs", func(p *Params, s *schema.Schema) { s.Pairs = [][2]int{{0, 1}} }, "pairs"},
		{"monotone", func(p *Params, s *schema.Schema) { s.Columns[0].Monotone = schema.Increasing }, "monotone"},
		{"nothing private", func(p *Params, s *schema.Schema) {
			for j := range s.Columns {
				s.Columns[j].Role = schema.Public
			}
		}, "schema"},
	} {
		s := *tab.Schema
		s.Columns = slices.Clone(s.Columns)
		p := Params{Epsilon: dp.Nano}
		c.change(&p, &s)
		_, err := p.Plan(&s, 0)
		var refused *dp.ParamError
		if !errors.As(err, &refused) || refused.Param != c.param {
			t.Errorf("%s: %v, want a refusal of %s", c.name, err, c.param)
		}
	}
}

// Under replace-one a δ of one in the table's rows is refused before the charge.
func TestDeltaAgainstTheTablesRows(t *testing.T) {
	tab, plan := with(setting{2, func(p *Params, s *schema.Schema) { p.Delta, p.Rows = dp.Femto/1000, 2000 }}, 1000)
	pl, err := plan()
	if err == nil {
		_, err = pl.Fit(context.Background(), learntest.Engine(t, tab), learntest.RefuseCharge(t), nil)
	}
	var refused *dp.ParamError
	if !errors.As(err, &refused) || refused.Param != "delta" {
		t.Errorf("%v, want a refusal of delta", err)
	}
}

// Products of two and of three columns among ten are found without being told, at
// 50,000 rows and ε = 1, pure and with a δ; no sum of functions of one column is
// better than a coin there.
func TestProductsAreFound(t *testing.T) {
	for _, factors := range [][]int{{0, 1}, {1, 4, 8}} {
		for _, delta := range []dp.Delta{0, 1e9} {
			tab := learntest.Products(1, 50_000, factors...)
			pl, err := Params{Epsilon: dp.Nano, Delta: delta, Rows: tab.Rows}.Plan(tab.Schema, 0)
			if err != nil {
				t.Fatal(err)
			}
			m := learntest.Fit(t, pl, tab, nil, 1)
			fresh := learntest.Products(2, 10_000, factors...)
			scores, err := m.Scores(fresh.Cols, fresh.Rows)
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i, y := range m.Labels(scores) {
				if y == fresh.Labels[i] {
					right++
				}
			}
			if accuracy := float64(right) / float64(fresh.Rows); accuracy < 0.9 {
				t.Errorf("product of %d, delta %s: accuracy %.3f, want .9", len(factors), delta, accuracy)
			}
		}
	}
}

// Drawn grids stay within their cells, are of columns that differ, and cut each
// inside its bounds; every column is drawn.
func TestDrawnGridsAreWithinTheRules(t *testing.T) {
	tab, plan := with(settings()["add-remove"], 10)
	p, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	pl := p.(*Plan)
	src := replay.Seeded(1, "draw")
	everDrawn := map[int]bool{}
	var before []drawn
	for range 2000 {
		one := pl.draw(src, before)
		before = append(before, one)
		g := one.grid
		if n := g.Cells(); n < 2 || n > pl.rules.cells || len(g.Axes) != len(one.places) {
			t.Fatalf("a grid of %d axes and %d cells", len(g.Axes), n)
		}
		seen := map[int]bool{}
		for _, axis := range g.Axes {
			if seen[axis.Column] || axis.Len() < 2 {
				t.Fatalf("an axis of %d parts, column drawn before: %v", axis.Len(), seen[axis.Column])
			}
			seen[axis.Column], everDrawn[axis.Column] = true, true
			c := tab.Schema.Columns[axis.Column]
			for i, e := range axis.Edges {
				if e <= c.Lower || e > c.Upper || i > 0 && e <= axis.Edges[i-1] {
					t.Fatalf("column %s is cut at %v", c.Name, axis.Edges)
				}
			}
		}
	}
	if len(everDrawn) != len(pl.columns) {
		t.Errorf("%d of %d columns are ever drawn", len(everDrawn), len(pl.columns))
	}
}

// Without noise a step is a part of Newton's; with much of it, a part of what the
// noise is calmed by; never more than the most.
func TestSteps(t *testing.T) {
	r := rules{stride: 0.5, calm: 4}
	for _, c := range []struct {
		slope, curve, deviation, curveDeviation, want float64
	}{
		{10, 80, 0, 0, 0.5 * 10 / (80*0.25 + 1)},
		{10, 80, 100, 0, 0.5 * 10 / (80*0.25 + 400 + 1)},
		{1e6, 0, 0, 0, mostStep},
		{-1e6, -50, 0, 0, -mostStep},
	} {
		got := r.stepsOf([]float64{c.slope}, []float64{c.curve}, []float64{0.3, 0.7}, c.deviation, c.curveDeviation)
		if math.Abs(got[0]-c.want) > 1e-6 {
			t.Errorf("slope %g, curve %g: step %g, want %g", c.slope, c.curve, got[0], c.want)
		}
	}
	// Where noise hides the curves, cells count as their mean.
	a := r.stepsOf([]float64{5, 5}, []float64{10, 90}, []float64{0.5, 0.5}, 0, 1e9)
	if math.Abs(a[0]-a[1]) > 1e-6 {
		t.Errorf("steps %v differ by curves that nobody can know", a)
	}
	parts := curveParts([]float64{0.5, 0.25, 0.25}, 3)
	if math.Abs(parts[0]-0.4) > 1e-12 || math.Abs(parts[0]+parts[1]+parts[2]-1) > 1e-12 {
		t.Errorf("curves are parted as %v", parts)
	}
}
