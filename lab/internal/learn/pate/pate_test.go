// SPDX-License-Identifier: Apache-2.0

package pate

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
		"partly private":   func(p *Params, s *schema.Schema) {},
		"ordinal":          func(p *Params, s *schema.Schema) { p.Encoding = feature.Ordinal },
		"private label":    func(p *Params, s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 },
		"no public column": allPrivate,
		"parts":            func(p *Params, s *schema.Schema) { p.Teachers = 20 },
		"parts, private label": func(p *Params, s *schema.Schema) {
			p.Teachers, s.Label.Role, s.Label.Default = 20, schema.Private, 0
		},
		"gaussian": func(p *Params, s *schema.Schema) { p.Noise, p.Delta = Gaussian, dp.Femto/1_000_000 },
		"gaussian parts, private label": func(p *Params, s *schema.Schema) {
			p.Noise, p.Delta, p.Teachers, s.Label.Role, s.Label.Default = Gaussian, dp.Femto/1_000_000, 20, schema.Private, 0
		},
		"gaussian, eps inf": func(p *Params, s *schema.Schema) { p.Epsilon, p.NotPrivate, p.Noise = 0, true, Gaussian },
		"eps inf":           func(p *Params, s *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true },
		"printed": func(p *Params, s *schema.Schema) {
			p.Epsilon, p.NotPrivate, p.Form, p.Teachers = 0, true, Printed, 7
		},
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
func with(set func(*Params, *schema.Schema), eps dp.Epsilon, rows int) (*dataset.Table, func() (learn.Plan, error)) {
	tab := census.Generate(11, rows)
	s := *tab.Schema
	s.Columns = append([]schema.Column(nil), s.Columns...)
	tab.Schema = &s
	p := Defaults()
	p.Epsilon = eps
	set(&p, &s)
	return tab, func() (learn.Plan, error) { return p.Plan(&s, rows) }
}

func TestConformance(t *testing.T) {
	for name, set := range settings() {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(set, dp.Nano, 300)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true})
		})
	}
}

// widen is row i in the space's features.
func widen(tab *dataset.Table, sp *feature.Space, i int) []float64 {
	x := make([]float64, sp.Width())
	for k, j := range sp.Columns {
		f, v := sp.Cell(k, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
		x[f] += v
	}
	return x
}

// TestCoefficientsEqualTheNaiveTwin follows evidence/guarantees/pate.md row by row in real numbers: one
// teacher a row, no noise. What integers round away is below 1e-4.
func TestCoefficientsEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"partly private", "ordinal", "private label", "no public column", "gaussian"} {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(settings()[name], dp.Nano, 2000)
			lp, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			pl := lp.(*Plan)
			exact := &mechtest.Recorder{Script: func(k int, p mechtest.Passage) (out []float64) {
				for _, v := range p.Values {
					out = append(out, v.Float())
				}
				return out
			}}
			got := learntest.Fit(t, pl, tab, exact, 1).Classifier.(*model.Logistic)
			student := make([]float64, 1)
			d := 0
			if pl.public != nil {
				d = pl.public.Width()
				student = append(append([]float64{}, got.Coef[:d]...), 0)
				student[d] = pl.studentOf(t, tab)[d]
			}
			want := twin(tab, pl, student)
			for f, w := range want {
				g := got.Bias
				if f < len(want)-1 {
					g = got.Coef[d+f]
				}
				if math.Abs(g-w) > 1e-4*(1+math.Abs(w)) {
					t.Fatalf("coefficient %d is %.8f, the twin's %.8f", f, g, w)
				}
			}
		})
	}
}

func (pl *Plan) studentOf(t *testing.T, tab *dataset.Table) []float64 {
	t.Helper()
	coef, err := pl.fitStudent(t.Context(), learntest.Engine(t, tab))
	if err != nil {
		t.Fatal(err)
	}
	return coef
}

// twin returns the coefficients of the private features and the bias.
func twin(tab *dataset.Table, pl *Plan, student []float64) []float64 {
	n, w := tab.Rows, pl.private.Width()
	level := pl.public == nil
	length := float64(len(pl.private.Columns))
	if level {
		length++
	}
	if pl.Noise == Gaussian {
		length = math.Sqrt(length)
	}
	sum := make([]float64, w+1)
	ps, ys := make([]float64, n), make([]float64, n)
	for i := range n {
		ps[i] = 0.5
		if !level {
			z := student[len(student)-1]
			for f, v := range widen(tab, pl.public, i) {
				z += student[f] * v
			}
			ps[i] = 1 / (1 + math.Exp(-z))
		}
		if int(tab.Labels[i]) == pl.s.Label.Positive {
			ys[i] = 1
		}
		e := max(-1, min(1, 2*(ys[i]-ps[i])))
		for f, v := range widen(tab, pl.private, i) {
			sum[f] += e * v / length
		}
		sum[w] += e / length
	}
	if !level {
		sum[w] = 0
	}
	scale := 2 / (0.8 * pl.Epsilon.Float())
	variance := 2 * scale * scale
	if pl.Noise == Gaussian {
		variance = 4 / (2 * pl.Terms().Bill[0].Rho.Float())
	}
	for f, v := range sum {
		if v != 0 {
			sum[f] *= max(0, 1-variance/(v*v))
		}
	}
	half, slope := 0.0, 0.0
	for k := range pl.private.Columns {
		first, width := pl.private.Block(k)
		most := 0.0
		for _, v := range sum[first : first+width] {
			most = max(most, math.Abs(v))
		}
		half += most / 2
	}
	for _, v := range sum[:w] {
		slope += length / 2 * v * v / half
	}
	m1, m2, room := 0.0, 0.0, 0.0
	for i := range n {
		x := 0.0
		for f, v := range widen(tab, pl.private, i) {
			x += sum[f] / half * v
		}
		x = max(-1, min(1, x))
		q := ps[i] * (1 - ps[i])
		m1, m2, room = m1+q*x, m2+q*x*x, room+q
	}
	mean := m1 / room
	base := length / 2 * sum[w]
	worth := max(0, min(8, (slope-base*mean)/(room*max(0.01, m2/room-mean*mean))))
	out := make([]float64, w+1)
	for f := range w {
		out[f] = worth * sum[f] / half
	}
	out[w] = base/room - worth*mean + student[len(student)-1]
	return out
}

func TestPlanRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		set  func(*Params, *schema.Schema)
	}{
		"no ε":                {"epsilon", func(p *Params, s *schema.Schema) { p.Epsilon = 0 }},
		"too small to split":  {"epsilon", func(p *Params, s *schema.Schema) { p.Epsilon = 1 }},
		"both":                {"epsilon", func(p *Params, s *schema.Schema) { p.NotPrivate = true }},
		"form":                {"form", func(p *Params, s *schema.Schema) { p.Form = "" }},
		"printed for privacy": {"flip the whole vote", func(p *Params, s *schema.Schema) { p.Form = Printed }},
		"noise":               {"noise", func(p *Params, s *schema.Schema) { p.Noise = "" }},
		"δ with laplace":      {"delta", func(p *Params, s *schema.Schema) { p.Delta = 1 }},
		"no δ":                {"delta", func(p *Params, s *schema.Schema) { p.Noise = Gaussian }},
		"δ of one":            {"delta", func(p *Params, s *schema.Schema) { p.Noise, p.Delta = Gaussian, dp.Femto }},
		"δ of one row in 50":  {"delta", func(p *Params, s *schema.Schema) { p.Noise, p.Delta = Gaussian, dp.Femto/50 }},
		"printed, gaussian": {"noise", func(p *Params, s *schema.Schema) {
			p.Form, p.NotPrivate, p.Epsilon, p.Noise = Printed, true, 0, Gaussian
		}},
		"teachers":   {"teachers", func(p *Params, s *schema.Schema) { p.Teachers = -1 }},
		"encoding":   {"encoding", func(p *Params, s *schema.Schema) { p.Encoding = "" }},
		"add-remove": {"relation", func(p *Params, s *schema.Schema) { s.Relation = dp.AddRemove }},
		"printed, no vote ε": {"vote-epsilon", func(p *Params, s *schema.Schema) {
			p.Form, p.NotPrivate, p.Epsilon, p.VoteEpsilon = Printed, true, 0, 0
		}},
		"printed, all private": {"schema", func(p *Params, s *schema.Schema) {
			p.Form, p.NotPrivate, p.Epsilon = Printed, true, 0
			allPrivate(p, s)
		}},
		"nothing to learn from": {"schema", func(p *Params, s *schema.Schema) {
			for j := range s.Columns {
				s.Columns[j].Role = schema.Public
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, plan := with(c.set, dp.Nano, 50)
			if _, err := plan(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

// The number of rows is public, so an empty table is refused, and before it
// costs anything.
func TestAnEmptyTableIsRefusedForNothing(t *testing.T) {
	tab, plan := with(settings()["partly private"], dp.Nano, 10)
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

// What a plan says, by hand: ε = 0.5 gives the votes 0.4, so noise of 2/0.4.
func TestFactsByHand(t *testing.T) {
	p := Defaults()
	p.Epsilon, p.Teachers = dp.Nano/2, 100
	pl, err := p.Plan(census.Schema(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]any{}
	for _, f := range pl.Facts() {
		facts[f.Key] = f.Value
	}
	if facts["noise_scale"] != 5.0 || facts["teachers"] != 100 || facts["epsilon"] != 0.5 ||
		facts["protects"] != string(dp.PrivateFeatures) {
		t.Error(facts)
	}
	p.Epsilon = 3 // units: 0.8 of them is 2, the last pays for the worth
	if pl, err = p.Plan(census.Schema(), 0); err != nil || pl.Terms().Bill[0].Epsilon != 2 || dp.Total(pl.Terms().Bill) != 3 {
		t.Error(err)
	}
}

// The printed form carries noise in its votes, so no statement about it may deny noise.
func TestPrintedFormDoesNotDenyNoise(t *testing.T) {
	tab, plan := with(settings()["printed"], dp.Nano, 300)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	said := m.Privacy.Words() + m.Privacy.Card()
	for _, f := range pl.Facts() {
		said += f.Text + "\n"
	}
	if strings.Contains(said, "no noise") || strings.Contains(said, "without noise") || strings.Contains(said, "No noise") ||
		!strings.Contains(said, "NOT PRIVATE") {
		t.Errorf("a model of noisy votes says:\n%s", said)
	}
}
