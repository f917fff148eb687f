// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Nothing of a model but what left through the exit may depend on a row: 1,000
// neighbour pairs over all settings, byte for byte, the answer of the solver
// being the release. The same runs check declared sensitivities.
func TestReplayNonInterference(t *testing.T) {
	const pairs = 1000
	for i, name := range slices.Sorted(slices.Values([]string{"auto", "objective", "objective, gamma", "objective, cms11",
		"objective, huber", "output", "output, gamma", "output, cms11", "output, laplace", "output, chosen"})) {
		p := settings()[name]
		src := replay.Seeded(uint64(i), "pairs")
		tab := censustest.Table(uint64(i), 40)
		if name == "output, chosen" {
			p.Epsilon = 15 * dp.Nano
			if pl, err := p.Plan(tab.Schema, tab.Rows); err != nil || pl.ask == 0 {
				t.Fatalf("%s: no threshold is chosen, %v", name, err)
			}
		}
		plan := planner(p, tab.Schema, tab.Rows)
		for k := range pairs/10 + 1 {
			b := learntest.Neighbour(tab, src, dp.WholeRow)
			shift := float64(rng.Below(src, 1000))
			differs, worst, at := learntest.Interference(t, plan, tab, b, uint64(k), func(_ int, p mechtest.Passage) []float64 {
				if p.Choice {
					return []float64{float64(k % len(p.Values))}
				}
				out := make([]float64, len(p.Values))
				for f := range out {
					out[f] = math.Sin(shift + float64(3*f))
				}
				return out
			})
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > 1 {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
		}
	}
}

// labels of what leaves
const (
	termLabel  = "linear term of the objective"
	coefsLabel = "coefficients"
)

func numberColumn(name string) schema.Column {
	return schema.Column{Name: name, Role: schema.Private, Kind: schema.Number, Lower: -1, Upper: 1, Default: new(float64)}
}

// The minimum moves no further than output perturbation declares, for both
// modes.
func TestOutputSensitivityIsHeld(t *testing.T) {
	src := replay.Seeded(5, "minima")
	for _, c := range []struct {
		noise Noise
		enc   feature.Encoding
		mode  Mode
		reg   float64
		loss  Loss
		norm  float64
	}{
		{Gamma, feature.Ordinal, CMS11, 1e-3, Logistic, 1}, {Gamma, feature.Ordinal, Tight, 0.05, Logistic, 1},
		{Gamma, feature.Ordinal, Tight, 5, Logistic, 0.6},
		{Gamma, feature.Ordinal, Tight, 0.3, Huber, 1}, {Gamma, feature.Ordinal, CMS11, 2, Huber, 0.3},
		{Blocks, feature.Ordinal, Tight, 5, Logistic, 1}, {Blocks, feature.OneHot, Tight, 5, Logistic, 1},
		{Blocks, feature.OneHot, Tight, 0.05, Logistic, 1},
		{Blocks, feature.Ordinal, CMS11, 0.3, Huber, 1}, {Blocks, feature.OneHot, Tight, 8, Huber, 0.1},
	} {
		p := settings()["output"]
		p.Noise, p.Mode, p.Reg, p.Loss, p.Norm, p.Encoding = c.noise, c.mode, c.reg, c.loss, c.norm, c.enc
		tab := censustest.Table(9, 6)
		for range 100 {
			b := learntest.Neighbour(tab, src, dp.WholeRow)
			_, worst, _ := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, 1, nil)
			if !(worst <= 1) {
				t.Fatalf("%+v: the minimum moved %.4f times what is declared", c, worst)
			}
		}
	}
}

// A model shortens rows as its training did: without noise its probabilities
// have the loss that was minimised, and shortening too little or not at all has
// another.
func TestModelsShortenRowsAsTrainingDid(t *testing.T) {
	tab := censustest.Table(3, 300)
	p := Defaults()
	p.NotPrivate, p.Norm, p.Reg, p.Encoding = true, 0.7, 0.001, feature.Ordinal
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	w := append(slices.Clone(m.Classifier.(*model.Logistic).Coef), m.Classifier.(*model.Logistic).Bias)
	for f := range w {
		w[f] /= pl.problemOf(tab.Rows).RowScale()
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	shortened := 0
	for i, score := range scores {
		z, square := 0.0, 0.0
		for f, x := range learntest.Widen(pl.space, pl.Norm, tab, i) {
			z += w[f] * x
			square += x * x
		}
		if want := 1 / (1 + math.Exp(-z)); math.Abs(score-want) > 1e-9 {
			t.Fatalf("row %d scores %.12f, in training %.12f", i, score, want)
		}
		if math.Sqrt(square) > p.Norm-1e-9 {
			shortened++
		}
	}
	if shortened == 0 || shortened == tab.Rows {
		t.Errorf("%d of %d rows are as long as may be: the test is one-sided", shortened, tab.Rows)
	}
}

// The rule for Λ and the choice of method look at sizes and ε alone, and act
// as written at their borders.
func TestDefaultReg(t *testing.T) {
	for _, c := range []struct {
		m     Method
		n     int
		crowd float64
		eps   dp.Epsilon
		want  string
	}{
		{Objective, 1000, 0, 0, "0.0001"},
		{Objective, 10_000, 1e-4, 10 * dp.Nano, "2e-05"},
		{Objective, 10_000, 2e-4, dp.Nano, "6.32e-05"},
		{Objective, 1000, 0.01, dp.Nano, "0.002"},
		{Objective, 1000, 10, dp.Nano / 100, "8"},
		{Output, 1000, 0.01, dp.Nano, "0.01"},
		{Output, 1000, 0.02, dp.Nano, "8"},
		{Objective, 1 << 40, 2e-12, dp.Nano, "1.49e-08"},
	} {
		if got := fmt.Sprintf("%.3g", DefaultReg(c.m, c.n, c.crowd, c.eps)); got != c.want {
			t.Errorf("%s, n=%d, crowd %g, ε=%s: Λ = %s, want %s", c.m, c.n, c.crowd, c.eps, got, c.want)
		}
	}
	if autoMethod(0.02) != Output || autoMethod(0.019) != Objective || autoMethod(0) != Objective {
		t.Error("auto does not switch where it says")
	}
}

// The noise of method output is the one that is shorter beside the coefficients:
// blocks can be hundreds of times as long on a small ridge.
func TestOutputNoiseIsTheShorter(t *testing.T) {
	text, err := examples.Schema("adult.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	plan := func(noise Noise, method Method, eps dp.Epsilon, rows int) *Plan {
		p := Defaults()
		p.Epsilon, p.Method, p.Noise = eps, method, noise
		pl, err := p.Plan(s, rows)
		if err != nil {
			t.Fatal(err)
		}
		return pl
	}
	const rows = 32_561
	seen := map[Noise]bool{}
	for _, eps := range []dp.Epsilon{dp.Nano / 100, dp.Nano / 20, dp.Nano / 10, dp.Nano, 8 * dp.Nano} {
		beside := func(noise Noise) float64 {
			return plan(noise, Output, eps, rows).sizeNoise(rows).OutputShare()
		}
		auto := plan(AutoNoise, Output, eps, rows)
		seen[auto.Noise] = true
		if got, best := beside(auto.Noise), min(beside(Blocks), beside(Gamma)); got > 1.5*best { // thresholds take their part
			t.Errorf("ε = %s: %s is %g long beside the coefficients, the shorter %g", eps, auto.Noise, got, best)
		}
	}
	if !seen[Blocks] || !seen[Gamma] {
		t.Errorf("of the two noises only one was ever taken: %v", seen)
	}
	if got := plan(AutoNoise, Output, dp.Nano, 0).Noise; got != Gamma {
		t.Errorf("without the number of rows: %s", got)
	}
	if got := plan(AutoNoise, Objective, dp.Nano, rows).Noise; got != Blocks {
		t.Errorf("method objective: %s", got)
	}
}
