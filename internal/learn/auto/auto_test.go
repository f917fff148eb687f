// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
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

// settings are what most tests walk through: all ask.
func settings() map[string]setting {
	addRemove := func(p *Params, s *schema.Schema) { allPrivate(p, s); s.Relation = dp.AddRemove }
	delta := func(p *Params, _ *schema.Schema) { p.Rows, p.Delta = leastSignal/2, 1e9 }
	both := func(p *Params, _ *schema.Schema) { p.Delta = 1e9 }
	return map[string]setting{
		"partly private":           {2, func(*Params, *schema.Schema) {}},
		"partly private, gaussian": {2, delta},
		"replace-one":              {2, allPrivate},
		"replace-one, gaussian":    {2, func(p *Params, s *schema.Schema) { allPrivate(p, s); delta(p, s) }},
		"add-remove":               {2, addRemove},
		"add-remove, gaussian":     {2, func(p *Params, s *schema.Schema) { addRemove(p, s); delta(p, s) }},
		"partly private, both":     {2, both},
		"add-remove, both":         {2, func(p *Params, s *schema.Schema) { addRemove(p, s); both(p, s) }},
		"classes, both":            {4, func(p *Params, s *schema.Schema) { allPrivate(p, s); both(p, s) }},
		"classes":                  {4, allPrivate},
		"classes, gaussian":        {4, func(p *Params, s *schema.Schema) { addRemove(p, s); delta(p, s) }},
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

// with is the census table of the given size and a plan for one setting. The rows
// that the rules reckon with are those of a larger table, so that they ask.
func with(c setting, rows int) (*dataset.Table, func() (learn.Plan, error)) {
	tab := censustest.Table(11, rows)
	if c.classes > 2 {
		tab = learntest.Levels(tab, c.classes, nil)
	}
	s := *tab.Schema
	s.Columns = slices.Clone(s.Columns)
	tab.Schema = &s
	p := Params{Epsilon: dp.Nano, Rows: 2 * leastSignal}
	c.change(&p, &s)
	return tab, func() (learn.Plan, error) { return p.Plan(&s, 0) }
}

func TestConformance(t *testing.T) {
	for name, c := range size.Some(settings(), 4) {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(c, 300)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true,
				Algebra: func(t *testing.T, bill []dp.Event, releases []mechtest.Passage) {
					pl, err := plan()
					if err != nil {
						t.Fatal(err)
					}
					if asks, is := pl.(*Plan); is {
						spendsBill(t, asks, bill, releases)
					} else if _, is := pl.(*both); !is || len(bill) != len(releases) {
						t.Errorf("a %T of %d lines makes %d releases", pl, len(bill), len(releases))
					}
				}})
		})
	}
}

// spendsBill checks that the lines but the last are those of the first fit and the
// lead, and that what leaves after them is one of two fits within the rest.
func spendsBill(t *testing.T, pl *Plan, bill []dp.Event, releases []mechtest.Passage) {
	t.Helper()
	lead := slices.IndexFunc(releases, func(p mechtest.Passage) bool { return p.Label == leadLabel })
	if lead < 0 || releases[lead].Loss != pl.lead.Epsilon || bill[len(bill)-2].Epsilon != pl.lead.Epsilon {
		t.Fatalf("no lead for %s among the releases", pl.lead.Epsilon)
	}
	var first, last []dp.Event
	for i, p := range releases {
		e := dp.Event{Release: p.Label, Mechanism: p.Name, Epsilon: p.Loss, Rho: p.Rho}
		if i < lead {
			first = append(first, e)
		} else if i > lead {
			last = append(last, e)
		}
	}
	if dp.Total(first) != pl.first.Epsilon || dp.Total(bill[:len(bill)-2]) != pl.first.Epsilon {
		t.Errorf("the first fit costs %s and is billed %s, not %s", dp.Total(first), dp.Total(bill[:len(bill)-2]),
			pl.first.Epsilon)
	}
	rest := dp.Price{Epsilon: pl.Epsilon - pl.first.Epsilon - pl.lead.Epsilon, Delta: pl.Delta}
	if enough, err := accounting.Within(last, rest); !enough || err != nil {
		t.Errorf("the last fit costs more than %s (%v)", rest, err)
	}
	if pl.additive.Epsilon != rest.Epsilon || pl.grids.Epsilon != rest.Epsilon {
		t.Errorf("the fits that may be chosen are for %s and %s, not %s", pl.additive.Epsilon, pl.grids.Epsilon, rest.Epsilon)
	}
}

// Public numbers and the schema alone say whether the question is asked; where not,
// the plan is that of additive.
func TestAsksByPublicThings(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Params, *schema.Schema)
		why    string
	}{
		{"asks", func(*Params, *schema.Schema) {}, ""},
		{"few rows", func(p *Params, _ *schema.Schema) { p.Rows-- }, "is below 40000"},
		{"add-remove needs half of them", func(p *Params, s *schema.Schema) {
			allPrivate(p, s)
			s.Relation, p.Rows = dp.AddRemove, leastSignal
		}, ""},
		{"few rows, add-remove", func(p *Params, s *schema.Schema) {
			allPrivate(p, s)
			s.Relation, p.Rows = dp.AddRemove, leastSignal-1
		}, "is below 20000"},
		{"a delta needs fewer rows", func(p *Params, _ *schema.Schema) { p.Rows, p.Delta = gaussianSignal, 1e9 }, ""},
		{"a delta, one row below both", func(p *Params, _ *schema.Schema) { p.Rows, p.Delta = 2*leastSignal-1, 1e9 }, ""},
		{"few rows, a delta", func(p *Params, _ *schema.Schema) { p.Rows, p.Delta = gaussianSignal-1, 1e9 }, "is below 2000"},
		{"a delta that pays for no Gaussian noise", func(p *Params, _ *schema.Schema) {
			p.Rows, p.Epsilon, p.Delta = 100, 300*dp.Nano, 1
		}, "is below 40000"},
		{"no rows", func(p *Params, _ *schema.Schema) { p.Rows = 0 }, "no number of rows"},
		{"without privacy, pairs", func(p *Params, s *schema.Schema) {
			p.Epsilon, p.NotPrivate, s.Pairs = 0, true, [][2]int{{0, 1}}
		}, "pairs"},
		{"pairs", func(_ *Params, s *schema.Schema) { s.Pairs = [][2]int{{0, 1}} }, "pairs"},
		{"weights", func(_ *Params, s *schema.Schema) { s.Label.Weights = []float64{1, 2} }, "weights"},
		{"monotone", func(_ *Params, s *schema.Schema) { s.Columns[0].Monotone = schema.Increasing }, "monotone"},
		{"private label", func(_ *Params, s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 },
			"private beside public"},
		{"persons", func(p *Params, s *schema.Schema) { s.Person = &schema.Person{Rows: 1} }, "persons"},
		{"one column", func(_ *Params, s *schema.Schema) {
			for j := range s.Columns[1:] {
				s.Columns[1+j].Role = schema.Ignored
			}
			s.Columns[0].Role = schema.Private
			low := s.Columns[0].Lower
			s.Columns[0].Default = &low
		}, "two columns"},
		{"one column that can be cut", func(_ *Params, s *schema.Schema) {
			for j := range s.Columns {
				s.Columns[j].Role = schema.Ignored
			}
			for _, kind := range []schema.Kind{schema.Number, schema.Category} {
				c := &s.Columns[slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Kind == kind })]
				c.Role, c.Default = schema.Private, &c.Lower
				if kind == schema.Category {
					all := make([]int, c.Codes())
					for code := range all {
						all[code] = code
					}
					c.Groups = []schema.Group{{Levels: all}}
				}
			}
		}, "two columns"},
	} {
		_, plan := with(setting{2, c.change}, 10)
		pl, err := plan()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		facts := pl.Facts()
		if _, is := pl.(*both); is {
			t.Errorf("%s: both", c.name)
			continue
		}
		asked := slices.ContainsFunc(facts, func(f learn.Fact) bool { return f.Key == "interactions" && f.Value == "asked" })
		alone, is := pl.(*given)
		switch {
		case is == asked || is != (c.why != ""):
			t.Errorf("%s: a %T, asked: %v", c.name, pl, asked)
		case is && !strings.Contains(facts[len(facts)-1].Text, c.why):
			t.Errorf("%s: %q does not say %q", c.name, facts[len(facts)-1].Text, c.why)
		case is && !slices.Equal(alone.Terms().Bill, alone.Plan.Terms().Bill):
			t.Errorf("%s: the bill is not that of additive", c.name)
		}
	}
}

// With a δ, both are fitted unasked from leastSignal on, unless noise is Laplace's or grids would be slow.
func TestTakesBothUnasked(t *testing.T) {
	four := []schema.Level{{Value: "a"}, {Value: "b"}, {Value: "c"}, {Value: "d"}}
	keepNumbers := func(s *schema.Schema) {
		for j := range s.Columns {
			if s.Columns[j].Kind == schema.Category {
				s.Columns[j].Role = schema.Ignored
			}
		}
	}
	for _, c := range []struct {
		name   string
		takes  bool
		change func(*Params, *schema.Schema)
	}{
		{"takes", true, func(*Params, *schema.Schema) {}},
		{"few rows", false, func(p *Params, _ *schema.Schema) { p.Rows-- }},
		{"two classes, a quarter of the rows", false, func(p *Params, _ *schema.Schema) { p.Rows /= 4 }},
		{"four classes, few of them numbers", false, func(p *Params, s *schema.Schema) { p.Rows, s.Label.Levels = p.Rows/4, four }},
		{"four classes of numbers", true, func(p *Params, s *schema.Schema) {
			p.Rows, s.Label.Levels = gaussianSignal, four
			keepNumbers(s)
		}},
		{"four classes of numbers, few rows", false, func(p *Params, s *schema.Schema) {
			p.Rows, s.Label.Levels = gaussianSignal-1, four
			keepNumbers(s)
		}},
		{"no delta", false, func(p *Params, _ *schema.Schema) { p.Delta = 0 }},
		{"laplace noise", false, func(p *Params, _ *schema.Schema) { p.Epsilon, p.Delta = 300*dp.Nano, 1 }},
		{"many rows", true, func(p *Params, _ *schema.Schema) { p.Rows = 5 * leastSignal }},
		{"too many rows", false, func(p *Params, _ *schema.Schema) { p.Rows, p.Delta = 100*leastSignal, 1e8 }},
		{"pairs", false, func(_ *Params, s *schema.Schema) { s.Pairs = [][2]int{{0, 1}} }},
	} {
		_, plan := with(setting{2, func(p *Params, s *schema.Schema) {
			p.Delta = 1e9
			c.change(p, s)
		}}, 10)
		pl, err := plan()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, is := pl.(*both); is != c.takes {
			t.Errorf("%s: a %T", c.name, pl)
		}
		if within, err := accounting.Within(pl.Terms().Bill, pl.Terms().Price); !within || err != nil {
			t.Errorf("%s: the bill is not within its price (%v)", c.name, err)
		}
	}
}

// What additive refuses is refused, and a δ that protects no one.
func TestPlanRefuses(t *testing.T) {
	for _, c := range []struct {
		param  string
		change func(*Params, *schema.Schema)
	}{
		{"epsilon", func(p *Params, _ *schema.Schema) { p.Epsilon = 0 }},
		{"rows", func(p *Params, _ *schema.Schema) { p.Rows = -1 }},
		{"delta", func(p *Params, _ *schema.Schema) { p.Delta = dp.Femto / dp.Delta(p.Rows) }},
	} {
		_, plan := with(setting{2, c.change}, 10)
		_, err := plan()
		var refused *dp.ParamError
		if !errors.As(err, &refused) || refused.Param != c.param {
			t.Errorf("%v, want a refusal of %s", err, c.param)
		}
	}
	tab, plan := with(setting{2, func(p *Params, _ *schema.Schema) { p.Delta = dp.Femto / 1000 }}, 1000)
	pl, err := plan()
	if err == nil {
		_, err = guard.Train(context.Background(), pl, learntest.Engine(t, tab), learntest.RefuseCharge(t), nil)
	}
	var refused *dp.ParamError
	if !errors.As(err, &refused) || refused.Param != "delta" {
		t.Errorf("%v, want a refusal of delta", err)
	}
}

// Products of two and of three columns among ten are found unasked; a label that one column decides is
// left to additive. Without privacy all are given to grids.
func TestColumnsThatCountTogether(t *testing.T) {
	for _, factors := range [][]int{{0, 1}, {3}, {1, 4, 8}}[:size.Of(2, 3)] {
		for _, p := range []Params{{Epsilon: dp.Nano}, {Epsilon: dp.Nano, Delta: 1e9}, {NotPrivate: true}}[:size.Of(1, 3)] {
			rows := 50_000
			if p.NotPrivate {
				rows = 5_000 // there are more rounds, and nothing hides behind noise
			} else if p.Delta > 0 {
				rows = leastSignal - 1 // from there on both are fitted unasked
			}
			tab := learntest.Products(1, rows, factors...)
			p.Rows = tab.Rows
			pl, err := p.Plan(tab.Schema, 0)
			if err != nil {
				t.Fatal(err)
			}
			m := learntest.Fit(t, pl, tab, nil, 1)
			want := "grids"
			if len(factors) == 1 && !p.NotPrivate {
				want = "additive"
			}
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
			if accuracy := float64(right) / float64(fresh.Rows); accuracy < 0.9 || m.Learner != want {
				t.Errorf("product of %d, epsilon %s, delta %s: learner %s, accuracy %.3f, want %s and .9", len(factors),
					p.Epsilon, p.Delta, m.Learner, accuracy, want)
			}
			// The last line of the bill is itemised in words, and the choice has its reason.
			if words := m.Privacy.Statement; !p.NotPrivate && !regexp.MustCompile(`^Chosen: `+want+
				`, with [0-9]+ measurements? by (laplace|gaussian), (epsilon|rho) = [0-9.]+ in total.*, because the best product `+
				`of columns leads by -?[0-9]+ rows as measured, (not )?above [0-9]+\. `).MatchString(words) {
				t.Errorf("product of %d, epsilon %s, delta %s: %q", len(factors), p.Epsilon, p.Delta, words)
			}
		}
	}
}

// With a δ a product is found where rows times ε are 2,000, under either relation.
func TestFindsProductsFromFewRows(t *testing.T) {
	for _, relation := range []dp.Relation{dp.AddRemove, dp.ReplaceOne} {
		tab := learntest.Products(1, gaussianSignal, 0, 1)
		tab.Schema.Relation = relation
		pl, err := Params{Epsilon: dp.Nano, Delta: 1e9, Rows: tab.Rows}.Plan(tab.Schema, 0)
		if err != nil {
			t.Fatal(err)
		}
		if m := learntest.Fit(t, pl, tab, nil, 1); m.Learner != "grids" {
			t.Errorf("%s: %s", relation, m.Privacy.Statement)
		}
	}
}

// The score that slopes are taken of is that of the first fit's model, for two classes
// and for more.
func TestScoreIsThatOfTheModel(t *testing.T) {
	private := additive.Params{Epsilon: 50 * dp.Nano}
	for _, c := range []struct {
		setting
		additive.Params
		rows int
	}{
		{settings()["partly private"], private, 500},
		{settings()["classes"], private, 500},
	} {
		tab, _ := with(c.setting, c.rows)
		pl, err := c.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		m := learntest.Fit(t, pl, tab, nil, 1)
		_, score := grids.ScoreOf(m, tab.Schema, func(feature.Grid, []float64) {})
		sums := slopesOfRows(t, tab, score)
		bound, err := m.Bind(tab.Schema)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := bound.Scores(tab.Cols, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range sums {
			p := scores[i*len(scores)/tab.Rows:][:len(scores)/tab.Rows]
			want := 0.0 // curve
			for _, x := range p {
				want += x * x
			}
			if want = 1 - want; len(p) == 1 {
				want = 4 * p[0] * (1 - p[0])
			}
			if math.Abs(got-want) > 1e-4 {
				t.Fatalf("row %d: curve %.6f, want %.6f", i, got, want)
			}
		}
	}
}

// slopesOfRows is the curve of each row alone.
func slopesOfRows(t *testing.T, tab *dataset.Table, score *statistic.StepScore) (out []float64) {
	t.Helper()
	one := feature.Grid{Axes: []feature.Bins{feature.NewBins(tab.Schema, tab.Schema.Features()[0], nil)}}
	for i := range tab.Rows {
		row := tab.Subset([]int{i})
		sums, err := statistic.GridSlopes{Under: score, Limit: statistic.SlopeLimit{Most: most, Norm: statistic.SlopesL2},
			Grids: []feature.Grid{one}}.Of(t.Context(), learntest.Engine(t, row))
		if err != nil {
			t.Fatal(err)
		}
		curve := int64(0)
		for _, c := range sums[0].Curves {
			curve += c
		}
		out = append(out, float64(curve)/engine.WeightOne)
	}
	return out
}
