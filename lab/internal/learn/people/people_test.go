// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

// settings are the parameter sets most tests walk through.
func settings() map[string]func(*Params, *schema.Schema) {
	return map[string]func(*Params, *schema.Schema){
		"partly private":  func(p *Params, s *schema.Schema) {},
		"narrow":          func(p *Params, s *schema.Schema) { p.Kappa = 0.05 },
		"all of the rows": func(p *Params, s *schema.Schema) { p.Kappa = 1 },
		"random, ordinal": func(p *Params, s *schema.Schema) {
			p.Base, p.Candidates, p.Encoding = Random, 9, feature.Ordinal
		},
		"random, private label": func(p *Params, s *schema.Schema) {
			p.Base, p.Candidates, p.Kappa, s.Label.Role, s.Label.Default = Random, 9, 0.2, schema.Private, 0
		},
		"private label":    func(p *Params, s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 },
		"no public column": allPrivate,
		"eps inf":          func(p *Params, s *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true },
	}
}

func allPrivate(p *Params, s *schema.Schema) {
	for j := range s.Columns {
		s.Columns[j].Role = schema.Private
		if d := s.Columns[j].Lower; s.Columns[j].Kind == schema.Number {
			s.Columns[j].Default = &d
		}
	}
}

// with returns the census table of the given size and a plan for one setting.
func with(set func(*Params, *schema.Schema), eps dp.Epsilon,
	rounds, rows int) (*dataset.Table, func() (learn.Plan, error)) {
	tab := census.Generate(11, rows)
	s := *tab.Schema
	s.Columns = append([]schema.Column(nil), s.Columns...)
	tab.Schema = &s
	p := Defaults()
	p.Epsilon, p.Rounds = eps, rounds
	set(&p, &s)
	return tab, func() (learn.Plan, error) { return p.Plan(&s, rows) }
}

func TestConformance(t *testing.T) {
	for name, set := range settings() {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(set, dp.Nano, 6, 300)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true})
		})
	}
}

// TestVotesEqualTheNaiveTwin runs the algorithm of evidence/guarantees/people.md row
// by row in real numbers: the same choices and disturbances, weights from a
// level found by bisection. What integer weights round away is below 1e-4.
func TestVotesEqualTheNaiveTwin(t *testing.T) {
	for name, set := range settings() {
		if name == "eps inf" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tab, plan := with(set, dp.Nano, 8, 900)
			lp, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			pl := lp.(*Plan)
			tape := &mechtest.Recorder{Script: func(k int, p mechtest.Passage) []float64 {
				if p.Choice {
					return []float64{float64(5 * k % len(p.Values))}
				}
				return []float64{p.Values[0].Float() + 0.1*math.Sin(float64(k))}
			}}
			m := learntest.Fit(t, pl, tab, tape, 5)
			y := make([]float64, tab.Rows)
			for i, l := range tab.Labels {
				y[i] = -1
				if int(l) == pl.s.Label.Positive {
					y[i] = 1
				}
			}
			margin := make([]float64, tab.Rows)
			k := 0
			for at, v := range m.Classifier.(*model.Votes).Members {
				right := make([]float64, tab.Rows)
				for i := range right {
					right[i] = y[i] * answer(tab, pl.space, v.Threshold, i)
				}
				want := 0.0
				if at > 0 || pl.public == nil {
					w := weights(margin, pl.Kappa)
					werr := 0.0
					for i := range w {
						if right[i] < 0 {
							werr += w[i]
						}
					}
					want = voteOf(werr/(pl.Kappa*float64(tab.Rows)) + 0.1*math.Sin(float64(k+1)))
					k += 2
				} else {
					wrong := 0.0
					for _, r := range right {
						wrong += (1 - r) / 2
					}
					want = voteOf(wrong / float64(tab.Rows))
				}
				if math.Abs(v.Vote-want) > 1e-4 {
					t.Fatalf("vote %d is %.8f, the twin's %.8f", at, v.Vote, want)
				}
				for i := range margin {
					margin[i] += v.Vote * right[i]
				}
			}
			if k == 0 || k != len(tape.Passages) {
				t.Errorf("the twin followed %d releases of %d", k, len(tape.Passages))
			}
		})
	}
}

// weights is min(1, e^(u−m)) at the u where they add up to κn.
func weights(margin []float64, kappa float64) []float64 {
	w := make([]float64, len(margin))
	lo, hi := -50.0, 50.0
	for range 200 {
		u, sum := (lo+hi)/2, 0.0
		for i, m := range margin {
			w[i] = min(1, math.Exp(u-m))
			sum += w[i]
		}
		if sum < kappa*float64(len(margin)) {
			lo = u
		} else {
			hi = u
		}
	}
	return w
}

func answer(tab *dataset.Table, sp *feature.Space, h feature.Threshold, i int) float64 {
	sum := int64(sp.Fixed(h.Bias, 1))
	for k, j := range sp.Columns {
		f, v := sp.Cell(k, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
		sum += int64(sp.Fixed(h.Coef[f], v))
	}
	if sum >= 0 {
		return 1
	}
	return -1
}

// Cuts come from the schema: an ordinal category's between its levels, a
// number's at its declared edges, else inside its bounds.
func TestCandidatesAreTheSchemas(t *testing.T) {
	_, plan := with(func(p *Params, s *schema.Schema) {
		p.Encoding = feature.Ordinal
		allPrivate(p, s)
		for j := range s.Columns {
			if c := &s.Columns[j]; c.Kind == schema.Number {
				c.Edges = []float64{c.Lower + (c.Upper-c.Lower)/4}
				break
			}
		}
	}, dp.Nano, 1, 10)
	lp, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	pl := lp.(*Plan)
	want, edged := 1, false // the constant
	for _, j := range pl.space.Columns {
		switch c := &pl.s.Columns[j]; {
		case c.Kind == schema.Category:
			want += len(c.Levels) - 1
		case len(c.Edges) > 0:
			want++
			edged = true
		default:
			want += 21
		}
	}
	list := pl.listCandidates(nil)
	if len(list) != want || !edged {
		t.Errorf("%d candidates, want %d", len(list), want)
	}
	for i, h := range list {
		if !(h.Bias >= -1 && h.Bias <= 1) {
			t.Errorf("candidate %d has bias %g", i, h.Bias)
		}
	}
}

// The rule for T, by hand: κnε/100 at most 25, at least 1, 10 for unknown n.
func TestRuleOfRounds(t *testing.T) {
	for _, c := range []struct {
		eps        dp.Epsilon
		rows, want int
	}{{10_000_000, 21_037, 1}, {40_000_000, 21_037, 4}, {160_000_000, 21_037, 16}, {dp.Nano, 21_037, 25},
		{dp.Nano, 0, 10}} {
		p := Defaults()
		p.Epsilon = c.eps
		pl, err := p.Plan(census.Schema(), c.rows)
		if err != nil || pl.Rounds != c.want || len(pl.Terms().Bill) != 2*c.want {
			t.Errorf("ε = %s, %d rows: %d rounds (%v), want %d", c.eps, c.rows, pl.Rounds, err, c.want)
		}
	}
}

// The noise scales of a plan, by hand: κn = 5,000, two rounds at ε/2 each, a
// third of it for the error.
func TestFactsByHand(t *testing.T) {
	p := Defaults()
	p.Epsilon, p.Rounds = 300_000_000, 2
	pl, err := p.Plan(census.Schema(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]any{}
	for _, f := range pl.Facts() {
		facts[f.Key] = f.Value
	}
	for key, want := range map[string]float64{"sensitivity": 1.0 / 5000, "noise_scale_pick": 2.0 / 5000 / 0.1,
		"noise_scale": 1.0 / 5000 / 0.05, "epsilon": 0.3} {
		if got, ok := facts[key].(float64); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %g", key, facts[key], want)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		set  func(*Params, *schema.Schema)
	}{
		"no ε":               {"epsilon", func(p *Params, s *schema.Schema) { p.Epsilon = 0 }},
		"too small to split": {"epsilon", func(p *Params, s *schema.Schema) { p.Epsilon = 5 }},
		"both":               {"epsilon", func(p *Params, s *schema.Schema) { p.NotPrivate = true }},
		"rounds":             {"rounds", func(p *Params, s *schema.Schema) { p.Rounds = -1 }},
		"kappa":              {"kappa", func(p *Params, s *schema.Schema) { p.Kappa = math.NaN() }},
		"base":               {"base", func(p *Params, s *schema.Schema) { p.Base = "" }},
		"candidates":         {"classifiers", func(p *Params, s *schema.Schema) { p.Base, p.Candidates = Random, 0 }},
		"encoding":           {"encoding", func(p *Params, s *schema.Schema) { p.Encoding = "" }},
		"add-remove":         {"relation", func(p *Params, s *schema.Schema) { s.Relation = dp.AddRemove }},
		"nothing to learn from": {"schema", func(p *Params, s *schema.Schema) {
			for j := range s.Columns {
				s.Columns[j].Role = schema.Public
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, plan := with(c.set, dp.Nano, 2, 50)
			if _, err := plan(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

// The number of rows is public, so an empty table is refused, and before it
// costs anything.
func TestAnEmptyTableIsRefusedForNothing(t *testing.T) {
	tab, plan := with(settings()["partly private"], dp.Nano, 3, 10)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	paid := &counter{}
	m, err := guard.Train(t.Context(), pl, learntest.Engine(t, tab.Subset(nil)), paid, mech.NewExit(replay.Seeded(1, "empty")))
	if m != nil || err == nil || paid.charges > 0 {
		t.Errorf("model %v, error %v, %d charges", m != nil, err, paid.charges)
	}
}

// counter is an account that counts charges.
type counter struct{ charges int }

func (c *counter) Charge(context.Context, dp.Price, []dp.Event) error { c.charges++; return nil }
func (c *counter) Counted() bool                                      { return false }
