// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/optimize"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Every choice is taken up to its bounds and refused beyond, and the rule for the ridge stays within
// them.
func TestChoicesReachTheirBounds(t *testing.T) {
	try := func(name string, x float64, want bool, set func(*Params)) {
		t.Helper()
		p := settings()["objective"]
		set(&p)
		if _, err := p.Plan(census.Schema(), 100); (err == nil) != want {
			t.Errorf("%s %g: %v", name, x, err)
		}
	}
	for x, want := range map[float64]bool{math.Nextafter(minWidth, 0): false, minWidth: true, maxWidth: true,
		math.Nextafter(maxWidth, math.Inf(1)): false} {
		try("width", x, want, func(p *Params) { p.Loss, p.Width = Huber, x })
	}
	for x, want := range map[float64]bool{math.Nextafter(minReg, 0): false, minReg: true, maxReg: true,
		math.Nextafter(maxReg, math.Inf(1)): false} {
		try("reg", x, want, func(p *Params) { p.Reg = x })
	}
	for x, want := range map[float64]bool{0x1p-20: false, math.Nextafter(0x1p-20, 1): true, 1: true,
		math.Nextafter(1, 2): false} {
		try("norm", x, want, func(p *Params) { p.Norm = x })
	}
	for crowd, want := range map[float64]float64{0.1: objectiveRidge * 0.1 * 0.1,
		math.Sqrt(float64(mostRidge) / objectiveRidge): mostRidge, 1: mostRidge, 1e9: mostRidge} {
		if got := DefaultReg(Objective, 1e6, crowd, dp.Nano); math.Abs(got-want) > 1e-9 {
			t.Errorf("crowd %g: a ridge of %g, want %g", crowd, got, want)
		}
	}
	most := 0.25 / math.Expm1(1e-9/3)
	for n, want := range map[int]float64{1: maxReg, 700: maxReg, 800: most / 800, 1 << 50: most / (1 << 50), 1 << 60: minReg} {
		if got := DefaultReg(Objective, n, 0, 1); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d rows: a ridge of %g, want %g", n, got, want)
		}
	}
}

// On either side of the numbers of rows of which the solver takes a part, what it returns is the
// minimum over all of them.
func TestMinimumOfAllRows(t *testing.T) {
	for _, n := range []int{2, fewRows - 1, fewRows, fewRows + 1, someRows - 1, someRows, someRows + 1, 4999, 8*someRows - 1,
		8 * someRows, 8*someRows + 1, 50_001} {
		tab := census.Generate(3, n)
		p := settings()["objective"]
		p.Epsilon, p.Reg = 8*dp.Nano, 0.01
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		pert := pl.planPerturbation(tab.Rows)
		b := pl.drawTerm(pert, mech.NewExit(replay.Seeded(1, "bounds")))
		w, err := pl.findMinimum(context.Background(), learntest.Engine(t, tab), pert, b)
		if err != nil {
			t.Fatal(err)
		}
		if g := vectorLength(pl.exactGradient(tab, pert, b, w)); !(g <= pert.gradientBound()) {
			t.Errorf("%d rows: the gradient is %.3g long, certified %.3g", n, g, pert.gradientBound())
		}
	}
}

// A step is halved as often as it takes, up to so often; a few poor steps call for a new Hessian; and
// a minimum that is not found in so many steps is left to the slower solver.
func TestStepsReachTheirNumber(t *testing.T) {
	// A slope of one length everywhere but within reach of zero, and a Hessian by which each step goes
	// so many times too far.
	for times, want := range map[int]bool{halvings - 1: true, halvings: true, halvings + 1: false, halvings + 9: false} {
		f := func(x []float64, hess bool) (optimize.Point, error) {
			grad := 1.0
			if math.Abs(x[0]-1) < 0.6 {
				grad = 0.01 * (x[0] - 1)
			} else if x[0] < 1 {
				grad = -1
			}
			return optimize.Point{Grad: []float64{grad}, Hess: []float64{math.Ldexp(1, -times)}}, nil
		}
		var chord optimize.Chord
		chord.Factor([]float64{math.Ldexp(1, -times)}, 1)
		_, done, err := walkDownhill(f, &chord, []float64{0}, 0.01)
		if err != nil || done != want {
			t.Errorf("a step 2^%d times too long: done = %v, %v", times, done, err)
		}
	}
	// Each step leaves so much of the gradient, whatever its Hessian.
	for _, c := range []struct {
		left    float64
		hessian int // asked for at the step, counted from 1; 0: never
	}{{0.99 * shrink, 0}, {shrink + 0.1, patience}} {
		steps, asked := 0, []int{}
		f := func(x []float64, hess bool) (optimize.Point, error) {
			if hess {
				asked = append(asked, steps)
			} else {
				steps++
			}
			return optimize.Point{Grad: []float64{math.Pow(c.left, float64(steps))}, Hess: []float64{1}}, nil
		}
		var chord optimize.Chord
		chord.Factor([]float64{1}, 1)
		if _, _, err := walkDownhill(f, &chord, []float64{0}, 1e-300); err != nil {
			t.Fatal(err)
		}
		if c.hessian == 0 && len(asked) > 0 || c.hessian > 0 && (len(asked) == 0 || asked[0] != c.hessian+1) {
			t.Errorf("steps that leave %g: Hessians are asked for after the evaluations %v", c.left, asked)
		}
		if c.hessian == 0 && steps != quickSteps+1 {
			t.Errorf("given up after %d steps, want %d", steps-1, quickSteps)
		}
	}
}
