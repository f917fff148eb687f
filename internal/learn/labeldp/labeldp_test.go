// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func settings() map[string]Params {
	with := func(change func(*Params)) Params {
		p := Defaults()
		p.Epsilon = dp.Nano
		change(&p)
		return p
	}
	return map[string]Params{
		"auto":        with(func(*Params) {}),
		"gamma":       with(func(p *Params) { p.Noise = Gamma }),
		"laplace":     with(func(p *Params) { p.Noise, p.Encoding = Laplace, feature.Ordinal }),
		"gaussian":    with(func(p *Params) { p.Noise, p.Delta = Gaussian, 1_000_000_000 }),
		"not private": with(func(p *Params) { p.Epsilon, p.NotPrivate = 0, true }),
	}
}

func planner(p Params, s *schema.Schema, rows int) func() (learn.Plan, error) {
	return func() (learn.Plan, error) { return p.Plan(s, rows) }
}

func TestConformance(t *testing.T) {
	for name, p := range settings() {
		t.Run(name, func(t *testing.T) {
			learntest.Run(t, learntest.Case{Plan: planner(p, census.Schema(), 400), Table: censustest.Table(1, 400),
				OrderFree: true})
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	counted, hidden := *census.Schema(), *census.Schema()
	counted.Relation = dp.AddRemove
	hidden.Columns = slices.Clone(hidden.Columns)
	for j := range hidden.Columns {
		hidden.Columns[j].Role = schema.Private
	}
	for _, c := range []struct {
		name   string
		s      *schema.Schema
		change func(*Params)
		param  string
	}{
		{"add-remove", &counted, func(*Params) {}, "relation"},
		{"no public column", &hidden, func(*Params) {}, "schema"},
		{"no epsilon", census.Schema(), func(p *Params) { p.Epsilon = 0 }, "epsilon"},
		{"delta without Gaussian noise", census.Schema(), func(p *Params) { p.Noise, p.Delta = Laplace, 1 }, "delta"},
		{"Gaussian noise without delta", census.Schema(), func(p *Params) { p.Noise = Gaussian }, "delta"},
		{"delta of one", census.Schema(), func(p *Params) { p.Noise, p.Delta = Gaussian, dp.Femto }, "delta"},
		{"negative delta", census.Schema(), func(p *Params) { p.Noise, p.Delta = Gaussian, -1 }, "delta"},
		{"delta without privacy", census.Schema(), func(p *Params) {
			p.Epsilon, p.NotPrivate, p.Noise, p.Delta = 0, true, Gaussian, 1
		}, "delta"},
		{"epsilon without privacy", census.Schema(), func(p *Params) { p.NotPrivate = true }, "epsilon"},
		{"unknown noise", census.Schema(), func(p *Params) { p.Noise = "" }, "noise"},
		{"reg not a number", census.Schema(), func(p *Params) { p.Reg = math.NaN() }, "reg"},
		{"unknown encoding", census.Schema(), func(p *Params) { p.Encoding = "" }, "encoding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := settings()["gamma"]
			c.change(&p)
			_, err := p.Plan(c.s, 0)
			var refused *dp.ParamError
			if !errors.As(err, &refused) || refused.Param != c.param {
				t.Errorf("Plan: %v, want a refusal of %s", err, c.param)
			}
		})
	}
}

// Nothing of a model but what left may depend on a label.
func TestReplayNonInterference(t *testing.T) {
	for _, name := range []string{"auto", "gamma", "laplace", "gaussian"} {
		p := settings()[name]
		src := replay.Seeded(1, "pairs "+name)
		tab := censustest.Table(4, 60)
		for k := range 500 {
			b := learntest.Neighbour(tab, src, dp.LabelOnly)
			shift := float64(rng.Below(src, 1000))
			differs, worst, at := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, uint64(k),
				func(_ int, p mechtest.Passage) []float64 {
					out := make([]float64, len(p.Values))
					for f := range out {
						out[f] = math.Sin(shift + float64(3*f))
					}
					return out
				})
			if differs != "" || worst > 1+1e-9 {
				t.Fatalf("%s, pair %d: %q differ, %s moved %.6f times its bound", name, k, differs, at, worst)
			}
		}
	}
}

// A δ of one in the number of rows is no guarantee: refused if the number is
// known, in the plan or at the latest before the charge.
func TestDeltaAgainstRows(t *testing.T) {
	p := settings()["gaussian"]
	tab := censustest.Table(1, 400)
	for delta, ok := range map[dp.Delta]bool{dp.Femto/400 - 1: true, dp.Femto / 400: false} {
		p.Delta = delta
		if _, err := p.Plan(tab.Schema, 400); (err == nil) != ok {
			t.Errorf("plan with δ = %s for 400 rows: %v", delta, err)
		}
		pl, err := p.Plan(tab.Schema, 0)
		if err != nil {
			t.Fatal(err)
		}
		acct := &counter{}
		if _, err := guard.Train(t.Context(), pl, learntest.Engine(t, tab), acct,
			mech.NewExit(replay.Seeded(1, "rows"))); (err == nil) != ok || acct.charged != ok {
			t.Errorf("fit with δ = %s on 400 rows: %v, charged %v", delta, err, acct.charged)
		}
	}
}

type counter struct{ charged bool }

func (c *counter) Charge(context.Context, dp.Price, []dp.Event) error { c.charged = true; return nil }
func (c *counter) Counted() bool                                      { return false }

// The noise that leaves has the deviation that the analytic calibration of
// (1, 1e-6) gives, by Balle and Wang's formula in this test's own arithmetic.
func TestGaussianNoiseIsCalibrated(t *testing.T) {
	p := settings()["gaussian"]
	tab := censustest.Table(4, 60)
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	tape := &mechtest.Recorder{}
	learntest.Fit(t, pl, tab, tape, 1)
	sigma := func(mu float64) float64 { // δ(1) at distance mu
		return math.Erfc((1/mu-mu/2)/math.Sqrt2)/2 - math.E*math.Erfc((1/mu+mu/2)/math.Sqrt2)/2
	}
	mu := math.Sqrt(2 * tape.Passages[0].Rho.Float())
	if !(sigma(mu) <= 1e-6 && sigma(mu*1.0001) > 1e-6) {
		t.Errorf("the release is at distance %g: δ(1) = %g", mu, sigma(mu))
	}
}

// The bound is reached by the longest row, in the norm of either noise, so none
// is wasted.
func TestSensitivityIsReached(t *testing.T) {
	for _, name := range []string{"auto", "gamma", "laplace", "gaussian"} {
		p := settings()[name]
		tab := censustest.Table(4, 60)
		best := 0.0
		for i := range tab.Rows {
			b := tab.Subset(all(tab.Rows))
			b.Labels[i] = 1 - b.Labels[i]
			_, worst, _ := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, 1, nil)
			best = max(best, worst)
		}
		if !(best <= 1 && best >= 0.999) {
			t.Errorf("%s: flipping any label moves the statistic by at most %.5f of what is declared, want .999 to 1",
				name, best)
		}
	}
}

// Auto takes the noise of the smaller mean square, on real rows too.
func TestAutoIsShorter(t *testing.T) {
	for encoding, want := range map[feature.Encoding]Noise{feature.OneHot: Laplace, feature.Ordinal: Gamma} {
		p := Defaults()
		p.Epsilon, p.Encoding = dp.Nano, encoding
		tab := censustest.Table(4, 60)
		square := map[Noise]float64{}
		for _, noise := range []Noise{Gamma, Laplace} {
			p.Noise = noise
			pl, err := p.Plan(tab.Schema, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			d, tape := float64(pl.dim()), &mechtest.Recorder{}
			learntest.Fit(t, pl, tab, tape, 1)
			scale := tape.Passages[0].Bound / pl.Epsilon.Float()
			square[noise] = 2 * d * scale * scale
			if noise == Gamma {
				square[noise] = d * (d + 1) * scale * scale
			}
		}
		p.Noise = Auto
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		other := map[Noise]Noise{Gamma: Laplace, Laplace: Gamma}[want]
		if pl.Noise != want || !(square[want] < square[other]) {
			t.Errorf("%s: auto takes %s; mean squares %v", encoding, pl.Noise, square)
		}
	}
}

// Private columns are not read: with the same randomness they move no bit.
func TestPrivateColumnsDoNotMatter(t *testing.T) {
	p := settings()["gamma"]
	tab := censustest.Table(4, 60)
	src := replay.Seeded(1, "columns")
	for range 20 {
		b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
		fit := func(tab *dataset.Table) []byte {
			pl, err := p.Plan(tab.Schema, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			return learntest.Bytes(t, learntest.Fit(t, pl, tab, nil, 3))
		}
		if !bytes.Equal(fit(tab), fit(b)) {
			t.Fatal("a private column shows in the model")
		}
	}
}

// Without noise the minimum is that of erm, an independent writing of the same
// loss, over the public columns alone.
func TestWithoutNoiseItIsErm(t *testing.T) {
	tab := censustest.Table(6, 500)
	var public []int
	for j := range tab.Schema.Columns {
		if tab.Schema.Columns[j].Role == schema.Public {
			public = append(public, j)
		}
	}
	part := *tab.Schema
	part.Columns = nil
	narrow := &dataset.Table{Schema: &part, Rows: tab.Rows, Labels: tab.Labels}
	for _, j := range public {
		part.Columns, narrow.Cols = append(part.Columns, tab.Schema.Columns[j]), append(narrow.Cols, tab.Cols[j])
	}
	p := settings()["not private"]
	p.Reg = 0.003
	ours, err := p.Plan(&part, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	e := erm.Defaults()
	e.NotPrivate, e.Reg, e.Encoding = true, p.Reg, p.Encoding
	theirs, err := e.Plan(&part, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	a, b := learntest.Fit(t, ours, narrow, nil, 1).Classifier.(*model.Logistic),
		learntest.Fit(t, theirs, narrow, nil, 1).Classifier.(*model.Logistic)
	for f := range a.Coef {
		if !(math.Abs(a.Coef[f]-b.Coef[f]) <= 1e-6) {
			t.Errorf("coefficient %d is %.9g here and %.9g in erm", f, a.Coef[f], b.Coef[f])
		}
	}
	if !(math.Abs(a.Bias-b.Bias) <= 1e-6) {
		t.Errorf("bias %.9g here and %.9g in erm", a.Bias, b.Bias)
	}
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
