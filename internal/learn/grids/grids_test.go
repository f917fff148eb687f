// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
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
	tab := censustest.Table(11, rows)
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
	for name, c := range size.Some(settings(), 6) {
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
		_, err = guard.Train(context.Background(), pl, learntest.Engine(t, tab), learntest.RefuseCharge(t), nil)
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

// Products are of two and of three columns as often, and few cuts serve them all: a group's cut rows
// into no more pieces than a statistic adds up at once.
func TestDrawProducts(t *testing.T) {
	tab, _ := with(settings()["add-remove"], 10)
	src := replay.Seeded(1, "draw")
	var axes []feature.Bins // each once
	products, pairs := DrawProducts(tab.Schema, src, 300), 0
	for _, g := range products {
		for _, axis := range g.Axes {
			if !slices.ContainsFunc(axes, func(a feature.Bins) bool { return a.SameCuts(&axis) }) {
				axes = append(axes, axis)
			}
		}
		if len(g.Axes) == 2 {
			pairs++
		}
	}
	if len(products) != 300 || pairs < 145 || pairs > 155 || len(axes) > 4*len(tab.Schema.Features()) {
		t.Errorf("%d products, %d of them pairs, by %d cuts", len(products), pairs, len(axes))
	}
	columns := cuttables(tab.Schema, fewCuts)
	for range 100 {
		g := feature.Grid{Axes: drawGroup(columns, src)}
		if len(g.Axes) < 2 || g.Cells() > groupPieces || g.Cells() <= groupPieces/8 {
			t.Fatalf("a group of %d columns and %d pieces", len(g.Axes), g.Cells())
		}
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

// By hand: two rows of a cell in which the model says ½ and both labels are positive have
// slopes of ½ each and curves of 1, as they are written; and of three classes, one row each.
func TestGainByHand(t *testing.T) {
	one := int64(engine.WeightOne)
	two := &statistic.GridSums{Slopes: []int64{one, -2 * one}, Curves: []int64{2 * one, 8 * one}}
	if got, want := gainOf(two, curveParts([]float64{0.5, 0.5}, 1)), 1/(2*0.25+ridge)+4/(8*0.25+ridge); math.Abs(
		float64(got)/engine.WeightOne-want) > 1e-5 {
		t.Errorf("gain %d units, want %g", got, want)
	}
	three := &statistic.GridSums{Slopes: []int64{2 * one, -one, -one}, Curves: []int64{2 * one}}
	share := []float64{0.5, 0.25, 0.25}
	if got, want := gainOf(three, curveParts(share, 3)), 4/(2*0.4+ridge)+2/(2*0.3+ridge); math.Abs(
		float64(got)/engine.WeightOne-want) > 1e-5 {
		t.Errorf("gain of three classes %d units, want %g", got, want)
	}
}

// By hand: where half is unknown .6 of what chance brings is taken off, halfway down to
// .35 half as much, below it nothing; slopes that are no more than chance brings leave .4.
func TestSignalByHand(t *testing.T) {
	slopes, curves := []float64{30, -30}, []float64{400, 400} // 100 of each cell's p(1 − p)
	chance, seen := 2*100.0/(100+ridge), 2*900.0/(100+ridge)
	for _, c := range []struct{ unknown, want float64 }{
		{200, 1 - 0.6*chance/seen},
		{400, 1 - 0.6*chance/seen},
		{200 / 0.425, 1 - 0.3*chance/seen},
		{200 / 0.35, 1},
		{2000, 1},
	} {
		if got := signalOf(slopes, curves, c.unknown); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("of %g unknown: %g, want %g", c.unknown, got, c.want)
		}
	}
	if got := signalOf([]float64{10, 10}, curves, 200); math.Abs(got-0.4) > 1e-9 {
		t.Errorf("as much as chance brings: %g, want .4", got)
	}
	if got := signalOf([]float64{1, 1}, curves, 200); got != 0 {
		t.Errorf("less than chance brings: %g, want 0", got)
	}
	if got := signalOf([]float64{0, 0}, curves, 200); got != 0 {
		t.Errorf("no slopes: %g, want 0", got)
	}
	// Of three classes curves are written as they are.
	if got, want := signalOf([]float64{20, -10, -10}, []float64{100}, 100), 1-0.6*100/600; math.Abs(got-want) > 1e-9 {
		t.Errorf("three classes: %g, want %g", got, want)
	}
	if got := unknownOf([]float64{0.5, 0.5}, 100); got != 25 {
		t.Errorf("two equal classes: %g of 100 rows, want 25", got)
	}
	if got, want := unknownOf([]float64{0.5, 0.25, 0.25}, 100), 62.5; got != want {
		t.Errorf("three classes: %g of 100 rows, want %g", got, want)
	}
}

// Labels that are all chance are not learnt by heart: what is fitted to one table is not much worse than nothing on another,
// neither without privacy nor where noise moves the scores of many classes in every round.
func TestChanceIsNotLearnt(t *testing.T) {
	for _, c := range []struct {
		classes int
		p       Params
		worse   float64
	}{{2, Params{NotPrivate: true}, 0.05}, {4, Params{Epsilon: dp.Nano, Delta: 1e9, Rows: 4000}, 0.05}} {
		tab, fresh := learntest.Products(1, 4000, 0, 1), learntest.Products(2, 4000, 0, 1)
		coin := rand.New(rand.NewPCG(3, 4))
		for _, of := range []*dataset.Table{tab, fresh} {
			if c.classes > 2 {
				of.Schema.Label.Positive = -1
				for len(of.Schema.Label.Levels) < c.classes {
					of.Schema.Label.Levels = append(of.Schema.Label.Levels, schema.Level{Value: fmt.Sprint(len(of.Schema.Label.Levels))})
				}
			}
			for i := range of.Labels {
				of.Labels[i] = uint8(coin.IntN(c.classes))
			}
		}
		pl, err := c.p.Plan(tab.Schema, 0)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := learntest.Fit(t, pl, tab, nil, 1).Scores(fresh.Cols, fresh.Rows)
		if err != nil {
			t.Fatal(err)
		}
		loss, nothing := 0.0, math.Log(float64(c.classes))
		for i, y := range fresh.Labels {
			p := scores[i*len(scores)/fresh.Rows:][:len(scores)/fresh.Rows]
			switch {
			case c.classes > 2:
				loss -= math.Log(p[y]) / float64(fresh.Rows)
			case y == 0:
				loss -= math.Log(1-p[0]) / float64(fresh.Rows)
			default:
				loss -= math.Log(p[0]) / float64(fresh.Rows)
			}
		}
		t.Logf("%d classes: log loss %.3f, that of nothing %.3f", c.classes, loss, nothing)
		if loss > nothing+c.worse {
			t.Errorf("%d classes: log loss %.3f, that of nothing %.3f", c.classes, loss, nothing)
		}
	}
}
