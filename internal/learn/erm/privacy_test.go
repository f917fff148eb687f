// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/optimize"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/mech/mechtest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
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
		tab := census.Generate(uint64(i), 40)
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

// line is a table of one number column in [-1, 1] and one label, and its plan.
func line(t *testing.T, p Params, xs []float64, labels []uint8) (*Plan, engine.Table) {
	t.Helper()
	return lineOf(t, p, census.Schema(), xs, labels)
}

func numberColumn(name string) schema.Column {
	return schema.Column{Name: name, Role: schema.Private, Kind: schema.Number, Lower: -1, Upper: 1, Default: new(float64)}
}

// lineOf is line with the label of a schema.
func lineOf(t *testing.T, p Params, label *schema.Schema, xs []float64, labels []uint8) (*Plan, engine.Table) {
	t.Helper()
	s := *label
	s.Columns = []schema.Column{numberColumn("x")}
	codes := make([]uint32, len(xs))
	for i := range codes {
		codes[i] = uint32(i)
	}
	tab := &dataset.Table{Schema: &s, Rows: len(xs), Labels: labels,
		Cols: []column.Column{{Codes: column.Narrow(codes, len(xs)), Values: xs}}}
	pl, err := p.Plan(&s, len(xs))
	if err != nil {
		t.Fatal(err)
	}
	return pl, learntest.Engine(t, tab)
}

func (pl *Plan) gradient(t *testing.T, tab engine.Table, w []float64) []float64 {
	t.Helper()
	s, err := tab.MarginSums(context.Background(), pl.space, pl.loss, pl.rowShape(), w)
	if err != nil {
		t.Fatal(err)
	}
	return s.Grad
}

func apart(a, b []float64) float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return vectorLength(d)
}

// share is how far it is from a to b in parts of what m declares, in its norm.
func share(m mech.Mechanism, a, b []float64) float64 {
	passage := func(v []float64) mechtest.Passage {
		p := mechtest.Passage{Norm: m.Norm()}
		if m, ok := m.(interface{ Blocks() []int }); ok {
			p.Blocks = m.Blocks()
		}
		for _, x := range v {
			p.Values = append(p.Values, mech.RatioOf(x))
		}
		return p
	}
	return passage(a).Moved(passage(b)) / m.Sensitivity()
}

// What the linear term is sized for: at no point does a replaced row move the
// summed gradient further (rows 13, 15 and 16 of the injected bugs).
func TestOneRowMovesTheGradientNoFurtherThanDeclared(t *testing.T) {
	src := replay.Seeded(1, "gradients")
	for _, name := range []string{"objective", "objective, gamma", "objective, cms11", "objective, huber"} {
		p := settings()[name]
		tab := census.Generate(7, 50)
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		declared := pl.planPerturbation(tab.Rows).term
		for range 500 {
			w := make([]float64, pl.countCoefficients())
			for i := range w {
				w[i] = math.Ldexp(2*float64(rng.Below(src, 1000))/1000-1, int(rng.Below(src, 12)))
			}
			b := learntest.Neighbour(tab, src, dp.WholeRow)
			if moved := share(declared, pl.gradient(t, learntest.Engine(t, tab), w),
				pl.gradient(t, learntest.Engine(t, b), w)); !(moved <= 1+1e-9) {
				t.Fatalf("%s: a row moved the gradient by %.4f of what is declared", name, moved)
			}
		}
	}
	// And it is reached: two rows at the end of the box, almost alike, on two
	// sides of a steep w that is wrong about both.
	for _, c := range []struct {
		name string
		norm float64
	}{{"objective, gamma", 1}, {"objective, gamma", 0.5}, {"objective", 1}} {
		p := settings()[c.name]
		p.Norm = c.norm
		pl, a := line(t, p, []float64{1}, []uint8{1})
		_, b := line(t, p, []float64{0.999}, []uint8{0})
		w := []float64{-1e6, 0.9995e6}
		if pl.s.Label.Positive != 1 {
			t.Fatal("the census has changed its label")
		}
		if r := share(pl.planPerturbation(1).term, pl.gradient(t, a, w), pl.gradient(t, b, w)); !(r <= 1+1e-9 && r >= 0.98) {
			t.Errorf("%s, norm %g: the worst pair moves the gradient by %.4f of what is declared, want .98 to 1", c.name,
				c.norm, r)
		}
	}
}

// The minimum moves no further than output perturbation declares, for both
// modes, and tight is not lavish where a strong ridge holds it near zero.
func TestOutputSensitivityIsHeldAndReached(t *testing.T) {
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
		tab := census.Generate(9, 6)
		for range 100 {
			b := learntest.Neighbour(tab, src, dp.WholeRow)
			_, worst, _ := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, 1, nil)
			if !(worst <= 1) {
				t.Fatalf("%+v: the minimum moved %.4f times what is declared", c, worst)
			}
		}
	}
	reached := func(noise Noise, mode Mode, reg float64, xs []float64, one, other uint8) float64 {
		p := settings()["output"]
		p.Noise, p.Mode, p.Reg = noise, mode, reg
		labels := make([]uint8, len(xs))
		for i := range labels {
			labels[i] = other // all agree but the last row
		}
		labels[len(xs)-1] = one
		pl, a := line(t, p, xs, labels)
		swapped := slices.Clone(labels)
		swapped[len(xs)-1] = other
		_, b := line(t, p, xs, swapped)
		pert := pl.planPerturbation(len(xs))
		zero := make([]float64, 2)
		wa, err1 := pl.findMinimum(context.Background(), a, pert, zero)
		wb, err2 := pl.findMinimum(context.Background(), b, pert, zero)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return share(pert.after, wa, wb)
	}
	for _, noise := range []Noise{Blocks, Gamma} {
		if r := reached(noise, Tight, 50, []float64{1, 1, 1}, 1, 0); !(r <= 1 && r >= 0.95) {
			t.Errorf("%s, tight at a strong ridge: a flipped label moves the minimum by %.4f of the declared bound", noise, r)
		}
	}
	if r := reached(Gamma, CMS11, 50, []float64{1, 1, 1}, 1, 0); !(r <= 0.55) {
		t.Errorf("cms11 at a strong ridge: %.4f", r)
	}
}

// The solver's answer is where it says: an independent gradient, from widened
// rows and compensated sums, is no longer than what the remainder covers.
func TestCertificateHolds(t *testing.T) {
	for _, name := range []string{"objective", "objective, cms11", "objective, huber", "output, cms11"} {
		tab := census.Generate(3, 300)
		p := settings()[name]
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(5) {
			pert := pl.planPerturbation(tab.Rows)
			b := pl.drawTerm(pert, mech.NewExit(replay.Seeded(seed, "certificate")))
			w, err := pl.findMinimum(context.Background(), learntest.Engine(t, tab), pert, b)
			if err != nil {
				t.Fatal(err)
			}
			if g := vectorLength(pl.exactGradient(tab, pert, b, w)); !(g <= pert.gradientBound()) {
				t.Errorf("%s: the gradient is %.3g long, certified %.3g", name, g, pert.gradientBound())
			}
			w[0] += 3 * pert.minimumDistance(pert.gradientBound()) // sabotage: a point off has no certificate
			if g := vectorLength(pl.exactGradient(tab, pert, b, w)); g <= pert.gradientBound() {
				t.Errorf("%s: a point off the minimum has a gradient of %.3g only", name, g)
			}
		}
	}
}

// The certificate is for the snapped linear term, the claim for the real-valued
// one: the remainder's radius holds both distances. Closed form, from public
// numbers; without the second the loss passes ε at these points.
func TestRemainderCoversTheGridOfTheTerm(t *testing.T) {
	for _, noise := range []Noise{Blocks, Gamma} {
		for _, eps := range []dp.Epsilon{dp.Nano / 10_000, dp.Nano / 100, dp.Nano, 10 * dp.Nano} {
			p := Defaults()
			p.Method, p.Mode, p.Noise, p.Epsilon, p.Norm = Objective, Tight, noise, eps, 1
			pl, err := p.Plan(census.Schema(), 10_000)
			if err != nil {
				t.Fatal(err)
			}
			pert := pl.planPerturbation(10_000)
			d, grid := float64(pert.dim), pert.term.(interface{ Grid() float64 }).Grid()
			solver, snap := pert.gradientBound()/pert.reg, grid*math.Sqrt(d)/(2*pert.n*pert.reg)
			// the division rounds
			if have := pert.after.(interface{ Sensitivity() float64 }).Sensitivity() / 2; !(have*(1+1e-12) >= solver+snap) {
				t.Errorf("noise %s, ε %s: the radius is %.17g, must be at least %.17g + %.3g", noise, eps, have, solver, snap)
			}
			if !(snap <= solver) {
				t.Errorf("noise %s, ε %s: snapping moves the solution by %.3g, the solver by %.3g: the grid is too coarse", noise,
					eps, snap, solver)
			}
		}
	}
}

// exactGradient is that of J, written from its definition.
func (pl *Plan) exactGradient(tab *dataset.Table, p perturbation, b, w []float64) []float64 {
	sum, lost := make([]float64, len(w)), make([]float64, len(w)) // Kahan
	add := func(f int, v float64) {
		y := v - lost[f]
		s := sum[f] + y
		lost[f], sum[f] = (s-sum[f])-y, s
	}
	for i := range tab.Rows {
		x := pl.widen(tab, i)
		z, sign := 0.0, -1.0
		if int(tab.Labels[i]) == tab.Schema.Label.Positive {
			sign = 1
		}
		for f := range x {
			z += x[f] * w[f]
		}
		_, slope, _ := pl.loss.At(sign * z)
		for f := range x {
			add(f, sign*slope*x[f])
		}
	}
	for f := range w {
		add(f, b[f])
		add(f, p.n*p.reg*w[f])
		sum[f] /= p.n
	}
	return sum
}

// widen is row i as the package document defines it.
func (pl *Plan) widen(tab *dataset.Table, i int) []float64 {
	x := make([]float64, pl.countCoefficients())
	x[len(x)-1] = 1
	for k, j := range pl.space.Columns {
		c := &tab.Cols[j]
		f, v := 0, 0.0
		if code := c.Codes.At(i); c.Values != nil {
			f, v = pl.space.Number(k, c.Values[code])
		} else {
			f, v = pl.space.Code(k, int(code))
		}
		x[f] = v
	}
	t := min(1/math.Sqrt(float64(len(pl.space.Columns)+1)), pl.Norm/vectorLength(x))
	for f := range x {
		x[f] *= t
	}
	return x
}

// A model shortens rows as its training did: without noise its probabilities
// have the loss that was minimised, and shortening too little or not at all has
// another.
func TestModelsShortenRowsAsTrainingDid(t *testing.T) {
	tab := census.Generate(3, 300)
	p := Defaults()
	p.NotPrivate, p.Norm, p.Reg, p.Encoding = true, 0.7, 0.001, feature.Ordinal
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	w := append(slices.Clone(m.Classifier.(*model.Logistic).Coef), m.Classifier.(*model.Logistic).Bias)
	for f := range w {
		w[f] /= pl.rowShape().Scale
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	shortened := 0
	for i, score := range scores {
		z := 0.0
		for f, x := range pl.widen(tab, i) {
			z += w[f] * x
		}
		if want := 1 / (1 + math.Exp(-z)); math.Abs(score-want) > 1e-9 {
			t.Fatalf("row %d scores %.12f, in training %.12f", i, score, want)
		}
		if vectorLength(pl.widen(tab, i)) > p.Norm-1e-9 {
			shortened++
		}
	}
	if shortened == 0 || shortened == tab.Rows {
		t.Errorf("%d of %d rows are as long as may be: the test is one-sided", shortened, tab.Rows)
	}
}

// Where Newton fails, gradient steps reach the same certificate within the
// number of steps they promise.
func TestAcceleratedStepsReachTheCertificate(t *testing.T) {
	tab := census.Generate(3, 200)
	p := settings()["objective"]
	p.Reg = 0.01
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	pert := pl.planPerturbation(tab.Rows)
	b := pl.drawTerm(pert, mech.NewExit(replay.Seeded(1, "accelerated")))
	surface := pl.objectiveSurface(context.Background(), learntest.Engine(t, tab), pert, b)
	w, err := minimiseAccelerated(surface, pert.dim, pert.reg,
		pert.reg+pert.curve, pert.target)
	if err != nil {
		t.Fatal(err)
	}
	if g := vectorLength(pl.exactGradient(tab, pert, b, w)); !(g <= pert.gradientBound()) {
		t.Errorf("the gradient is %.3g long, certified %.3g", g, pert.gradientBound())
	}
	quick, err := pl.findMinimum(context.Background(), learntest.Engine(t, tab), pert, b)
	if err != nil || !(apart(w, quick) <= 2*pert.minimumDistance(pert.gradientBound())) {
		t.Errorf("two certified points are %.3g apart, %v; they must be within %.3g", apart(w, quick), err,
			2*pert.minimumDistance(pert.gradientBound()))
	}
	newton, err := minimiseSurface(surface, pert.dim, pert.reg,
		pert.reg+pert.curve, pert.target)
	if err != nil || !(apart(w, newton) <= 2*pert.minimumDistance(pert.gradientBound())) {
		t.Errorf("two certified points are %.3g apart, %v; they must be within %.3g", apart(w, newton), err,
			2*pert.minimumDistance(pert.gradientBound()))
	}
}

// Gradients that no step shortens have no certificate, whatever else they say.
func TestQuickStepsGiveUp(t *testing.T) {
	stuck := func(x []float64, hess bool) (optimize.Point, error) {
		return optimize.Point{Grad: []float64{1, 0}, Hess: []float64{1, 0, 0, 1}}, nil
	}
	if _, done, err := minimiseQuickly(stuck, stuck, stuck, 2, 1e-9); done || err != nil {
		t.Errorf("done = %v, %v", done, err)
	}
	flat := func(x []float64, hess bool) (optimize.Point, error) {
		return optimize.Point{Grad: []float64{1, 0}, Hess: make([]float64, 4)}, nil
	}
	if _, done, err := minimiseQuickly(flat, flat, flat, 2, 1e-9); done || err != nil {
		t.Errorf("without curvature: done = %v, %v", done, err)
	}
}

// Every row is inside the declared ball, whatever the schema allows.
func TestRowsAreNoLongerThanDeclared(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.OneHot, feature.Ordinal} {
		for _, norm := range []float64{1, 0.7, 0.1} {
			p := settings()["objective"]
			p.Encoding, p.Norm = enc, norm
			tab := census.Generate(2, 200)
			pl, err := p.Plan(tab.Schema, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			longest := 0.0
			for i := range tab.Rows {
				one := learntest.Engine(t, tab.Subset([]int{i}))
				w := make([]float64, pl.countCoefficients())
				g := pl.gradient(t, one, w) // slope 1/2 for the logistic loss
				longest = max(longest, 2*vectorLength(g))
			}
			if !(longest <= norm*(1+1e-12)) || enc == feature.OneHot && norm < 0.7 && !(longest >= norm*(1-1e-12)) {
				t.Errorf("%s, norm %g: the longest row has %g", enc, norm, longest)
			}
		}
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
			p := plan(noise, Output, eps, rows).planPerturbation(rows)
			return noiseLength(p.after, p.dim) * (p.reg + p.curve/float64(p.dim))
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
