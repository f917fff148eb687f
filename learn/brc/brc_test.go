// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/census"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/learntest"
	"github.com/discreet-dp/discreet/learn/random"
	"github.com/discreet-dp/discreet/mech/mechtest"
	"github.com/discreet-dp/discreet/model"
	"github.com/discreet-dp/discreet/rng"
	"github.com/discreet-dp/discreet/rng/replay"
	"github.com/discreet-dp/discreet/schema"
)

// settings are the parameter sets most tests walk through.
func settings() map[string]func(*Params, *schema.Schema) {
	return map[string]func(*Params, *schema.Schema){
		"partly private":    func(p *Params, s *schema.Schema) {},
		"paper sensitivity": func(p *Params, s *schema.Schema) { p.Sensitivity = Paper },
		"ordinal, zero":     func(p *Params, s *schema.Schema) { p.Encoding, p.Intercept = feature.Ordinal, InterceptZero },
		"selected":          func(p *Params, s *schema.Schema) { p.Intercept, p.Candidates = InterceptSelected, 5 },
		"private label":     func(p *Params, s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 },
		"no public column": func(p *Params, s *schema.Schema) {
			for j := range s.Columns {
				s.Columns[j].Role = schema.Private
				if d := s.Columns[j].Lower; s.Columns[j].Kind == schema.Number {
					s.Columns[j].Default = &d
				}
			}
		},
		"add-remove":          func(p *Params, s *schema.Schema) { s.Relation = dp.AddRemove },
		"add-remove selected": func(p *Params, s *schema.Schema) { s.Relation, p.Intercept = dp.AddRemove, InterceptSelected },
		"wide weights":        func(p *Params, s *schema.Schema) { p.C1, p.C2 = 3, 10 },
		"eps inf":             func(p *Params, s *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true },
	}
}

// with returns the census table of the given size and a plan for one setting.
func with(set func(*Params, *schema.Schema), eps dp.Epsilon, rounds, rows int) (*dataset.Table, Params, func() (learn.Plan, error)) {
	tab := census.Generate(11, rows)
	s := *tab.Schema
	s.Columns = append([]schema.Column(nil), s.Columns...)
	tab.Schema = &s
	p := Defaults()
	p.Epsilon, p.Rounds = eps, rounds
	set(&p, &s)
	return tab, p, func() (learn.Plan, error) { return p.Plan(&s, rows) }
}

func TestConformance(t *testing.T) {
	for name, set := range settings() {
		t.Run(name, func(t *testing.T) {
			tab, _, plan := with(set, dp.Nano, 12, 400)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true})
		})
	}
}

// scripted lets the exact value plus a fixed disturbance out, the same for the
// learner and its twin.
func scripted(k int) float64 { return 0.3 * math.Sin(float64(7*k+1)) / float64(k+1) }

// TestVotesEqualTheNaiveTwin runs Algorithms 2 and 3 row by row as printed, with
// the same classifiers and noise. With integer weights the votes agree to 1e-9;
// with the paper's real-valued weights to 1e-5, the price of the 2^-20 grid.
func TestVotesEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"partly private", "paper sensitivity", "ordinal, zero", "private label", "no public column", "wide weights"} {
		t.Run(name, func(t *testing.T) {
			tab, p, plan := with(settings()[name], dp.Nano, 25, 3000)
			partly := len(tab.Schema.ByRole(schema.Public)) > 0 && tab.Schema.Label.Role == schema.Public
			pl, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			tape := &mechtest.Recorder{Script: func(k int, p mechtest.Passage) []float64 {
				return []float64{p.Values[0].Float() + scripted(k)}
			}}
			m := learntest.Fit(t, pl, tab, tape, 5)
			for _, grid := range []bool{true, false} {
				tolerance := 1e-9
				if !grid {
					tolerance = 1e-5
				}
				if name == "wide weights" && !grid {
					tolerance = 1e-4 // the grid is 2^-16 there
				}
				votes, public := twin(t, tab, p, replay.Seeded(5, "learntest"), grid)
				for k, got := range m.Votes.Members {
					if math.Abs(got.Vote-votes[k]) > tolerance || partly && isPublic(m, got) != public[k] {
						t.Fatalf("grid %v: round %d votes %.12f (public %v), twin %.12f (public %v)", grid, k+1, got.Vote, partly && isPublic(m, got), votes[k], public[k])
					}
				}
			}
			if name == "partly private" { // the case must exercise both branches
				public := 0
				for _, v := range m.Votes.Members {
					if isPublic(m, v) {
						public++
					}
				}
				if public == 0 || public == p.Rounds {
					t.Errorf("%d of %d rounds are public: the twin test is one-sided", public, p.Rounds)
				}
			}
		})
	}
}

// isPublic reports whether a voter of a partly private model reads the public
// columns.
func isPublic(m *model.Model, v model.Member) bool {
	at := slices.IndexFunc(m.Schema.Columns, func(c schema.Column) bool { return c.Name == m.Spaces[v.Space].Columns[0] })
	return m.Schema.Columns[at].Role == schema.Public
}

// twin is Algorithm 2 (3 when everything is private), line by line over rows.
func twin(t *testing.T, tab *dataset.Table, p Params, src rng.Source, grid bool) (votes []float64, public []bool) {
	s := tab.Schema
	partly := s.Label.Role == schema.Public && len(s.ByRole(schema.Public)) > 0
	cols := s.Features()
	if partly {
		cols = s.ByRole(schema.Private)
	}
	sp, err := feature.NewSpace(s, p.Encoding, cols)
	if err != nil {
		t.Fatal(err)
	}
	n := tab.Rows
	y := func(i int) bool { return int(tab.Labels[i]) == s.Label.Positive }
	wpri, wpub := make([]float64, n), make([]float64, n)
	for i := range n {
		wpri[i], wpub[i] = 1, 1
	}
	clip := newClip(p.C1, p.C2)
	step := func(w, factor float64) float64 {
		v := w * factor
		if grid {
			v = math.RoundToEven(v*float64(clip.one)) / float64(clip.one)
			if v < float64(clip.lo)/float64(clip.one) || v > float64(clip.hi)/float64(clip.one) {
				return w
			}
			return v
		}
		if v > p.C2 || v < 1/p.C1 {
			return w
		}
		return v
	}
	werr := func(w []float64, wrong func(i int) bool) float64 {
		a, b := 0.0, 0.0
		for i := range n {
			if wrong(i) {
				a += w[i]
			}
			b += w[i]
		}
		return a / b
	}
	for k := range p.Rounds {
		h := random.Threshold(src, sp, p.Intercept == InterceptUniform)
		wrong := func(i int) bool { return (score(tab, sp, h, i) >= 0) != y(i) }
		e := werr(wpri, wrong) + scripted(k)
		if partly {
			coef := newton(t, tab, p.Encoding, wpub)
			pubWrong := func(i int) bool { return (coef(i) >= 0) != y(i) }
			pe := werr(wpub, pubWrong)
			if math.Abs(0.5-pe) > math.Abs(0.5-e) {
				for i := range n {
					if pubWrong(i) {
						wpub[i] *= math.Exp(0.5 - pe)
					}
				}
				votes, public = append(votes, 0.5-pe), append(public, true)
				continue
			}
		}
		for i := range n {
			if wrong(i) {
				wpri[i] = step(wpri[i], math.Exp(0.5-e))
			}
		}
		votes, public = append(votes, 0.5-e), append(public, false)
	}
	return votes, public
}

func score(tab *dataset.Table, sp *feature.Space, h feature.Threshold, i int) float64 {
	sum := h.Bias
	for k, j := range sp.Columns {
		f, v := sp.Cell(k, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
		sum += h.Coef[f] * v
	}
	return sum
}

// newton fits the public classifier on widened rows by plain Newton steps.
func newton(t *testing.T, tab *dataset.Table, enc feature.Encoding, w []float64) func(i int) float64 {
	sp, err := feature.NewSpace(tab.Schema, enc, tab.Schema.ByRole(schema.Public))
	if err != nil {
		t.Fatal(err)
	}
	d := sp.Width() + 1
	coef := make([]float64, d)
	row := func(i int) []float64 {
		x := make([]float64, d)
		for k, j := range sp.Columns {
			f, v := sp.Cell(k, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
			x[f] += v
		}
		x[d-1] = 1
		return x
	}
	for range 12 {
		g, h := make([]float64, d), make([][]float64, d)
		for a := range h {
			h[a] = make([]float64, d)
			if a < d-1 {
				g[a], h[a][a] = ridge*coef[a], ridge
			}
		}
		for i := range tab.Rows {
			x, z, y := row(i), 0.0, 0.0
			for a := range x {
				z += x[a] * coef[a]
			}
			if int(tab.Labels[i]) == tab.Schema.Label.Positive {
				y = 1
			}
			q := 1 / (1 + math.Exp(-z))
			for a := range x {
				if x[a] == 0 {
					continue
				}
				g[a] += w[i] * (q - y) * x[a]
				for b := range x {
					h[a][b] += w[i] * q * (1 - q) * x[a] * x[b]
				}
			}
		}
		for a, s := range solve(h, g) {
			coef[a] -= s
		}
	}
	return func(i int) (z float64) {
		for a, x := range row(i) {
			z += x * coef[a]
		}
		return z
	}
}

// solve is Gaussian elimination; it overwrites both arguments.
func solve(a [][]float64, b []float64) []float64 {
	for i := range b {
		for r := i + 1; r < len(b); r++ {
			f := a[r][i] / a[i][i]
			for c := i; c < len(b); c++ {
				a[r][c] -= f * a[i][c]
			}
			b[r] -= f * b[i]
		}
	}
	for i := len(b) - 1; i >= 0; i-- {
		for c := i + 1; c < len(b); c++ {
			b[i] -= a[i][c] * b[c]
		}
		b[i] /= a[i][i]
	}
	return b
}

func TestPlanRefuses(t *testing.T) {
	s := census.Schema()
	for name, bad := range map[string]func(*Params){
		"epsilon":     func(p *Params) { p.Epsilon = 0 },
		"rounds":      func(p *Params) { p.Rounds = 0 },
		"c1":          func(p *Params) { p.C1 = math.NaN() },
		"c2":          func(p *Params) { p.C2 = 0.5 },
		"encoding":    func(p *Params) { p.Encoding = "" },
		"sensitivity": func(p *Params) { p.Sensitivity = "" },
		"intercept":   func(p *Params) { p.Intercept = "none" },
		"candidates":  func(p *Params) { p.Intercept, p.Candidates = InterceptSelected, 1 },
	} {
		p := Defaults()
		p.Epsilon = dp.Nano
		bad(&p)
		if _, err := p.Plan(s, 100); err == nil || !contains(err.Error(), name) {
			t.Errorf("a bad %s: %v", name, err)
		}
	}
	p := Defaults()
	p.Epsilon = 24 // 25 releases need 25 units
	if _, err := p.Plan(s, 100); err == nil {
		t.Error("an ε of less than a unit a release was accepted")
	}
}

func contains(s, sub string) bool {
	for i := range len(s) - len(sub) + 1 {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}

// The rule of thumb and the noise scales of section 5.1's setting, by hand.
func TestFactsOfThePapersSetting(t *testing.T) {
	p := Defaults()
	p.Epsilon, p.Sensitivity = 160_000_000, Paper
	pl, err := p.Plan(census.Schema(), 20_000)
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]any{}
	for _, f := range pl.Facts() {
		facts[f.Key] = f.Value
	}
	for key, want := range map[string]float64{"noise_scale_paper": 2 * 25 / (0.16 * 20_000), "noise_scale": 2 * 25 / (0.16 * 20_000), "rule_of_thumb": 2 * 25 / (0.16 * 20_000), "epsilon": 0.16} {
		if got, ok := facts[key].(float64); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %g", key, facts[key], want)
		}
	}
	if facts["rule_of_thumb_holds"] != true || facts["algorithm"] != 2 {
		t.Error(fmt.Sprint(facts))
	}
}
