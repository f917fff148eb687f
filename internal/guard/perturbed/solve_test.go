// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// The solver's answer is where it says: an independent gradient, from widened
// rows and compensated sums, is no longer than what the remainder covers.
func TestCertificateHolds(t *testing.T) {
	for _, name := range []string{"objective", "objective, printed", "objective, huber", "output, printed"} {
		tab := censustest.Table(3, 300)
		p := problem(t, name, census.Schema())
		for seed := range uint64(5) {
			size := p.Size(tab.Rows)
			b := draw(&size, seed)
			w, err := rowsOf(t, tab).findMinimum(context.Background(), p, &size, b)
			if err != nil {
				t.Fatal(err)
			}
			if g := vectorLength(exactGradient(p, &size, tab, b, w)); !(g <= size.gradientBound()) {
				t.Errorf("%s: the gradient is %.3g long, certified %.3g", name, g, size.gradientBound())
			}
			w[0] += 3 * size.minimumDistance(size.gradientBound()) // sabotage: a point off has no certificate
			if g := vectorLength(exactGradient(p, &size, tab, b, w)); g <= size.gradientBound() {
				t.Errorf("%s: a point off the minimum has a gradient of %.3g only", name, g)
			}
		}
	}
}

// Where Newton fails, gradient steps reach the same certificate within the
// number of steps they promise.
func TestAcceleratedStepsReachTheCertificate(t *testing.T) {
	tab := censustest.Table(3, 200)
	p := problem(t, "objective", census.Schema())
	p.Reg = 0.01
	size := p.Size(tab.Rows)
	b := draw(&size, 1)
	surface := rowsOf(t, tab).objectiveSurface(context.Background(), p, &size, b)
	w, err := minimiseAccelerated(surface, size.dim, size.reg,
		size.reg+size.curve, size.target)
	if err != nil {
		t.Fatal(err)
	}
	if g := vectorLength(exactGradient(p, &size, tab, b, w)); !(g <= size.gradientBound()) {
		t.Errorf("the gradient is %.3g long, certified %.3g", g, size.gradientBound())
	}
	quick, err := rowsOf(t, tab).findMinimum(context.Background(), p, &size, b)
	if err != nil || !(apart(w, quick) <= 2*size.minimumDistance(size.gradientBound())) {
		t.Errorf("two certified points are %.3g apart, %v; they must be within %.3g", apart(w, quick), err,
			2*size.minimumDistance(size.gradientBound()))
	}
	newton, err := minimiseSurface(surface, size.dim, size.reg,
		size.reg+size.curve, size.target)
	if err != nil || !(apart(w, newton) <= 2*size.minimumDistance(size.gradientBound())) {
		t.Errorf("two certified points are %.3g apart, %v; they must be within %.3g", apart(w, newton), err,
			2*size.minimumDistance(size.gradientBound()))
	}
}

// On either side of the numbers of rows of which the solver takes a part, what it returns is the
// minimum over all of them.
func TestMinimumOfAllRows(t *testing.T) {
	for _, n := range []int{2, fewRows - 1, fewRows, fewRows + 1, someRows - 1, someRows, someRows + 1, 4999, 8*someRows - 1,
		8 * someRows, 8*someRows + 1, 50_001} {
		tab := censustest.Table(3, n)
		p := problem(t, "objective", census.Schema())
		p.Epsilon, p.Reg = 8*dp.Nano, 0.01
		size := p.Size(tab.Rows)
		b := draw(&size, 1)
		w, err := rowsOf(t, tab).findMinimum(context.Background(), p, &size, b)
		if err != nil {
			t.Fatal(err)
		}
		if g := vectorLength(exactGradient(p, &size, tab, b, w)); !(g <= size.gradientBound()) {
			t.Errorf("%d rows: the gradient is %.3g long, certified %.3g", n, g, size.gradientBound())
		}
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

// The certificate is for the snapped linear term, the claim for the real-valued
// one: the remainder's radius holds both distances. Closed form, from public
// numbers; without the second the loss passes ε at these points.
func TestRemainderCoversTheGridOfTheTerm(t *testing.T) {
	for _, noise := range []Noise{Blocks, Gamma} {
		for _, eps := range []dp.Epsilon{dp.Nano / 10_000, dp.Nano / 100, dp.Nano, 10 * dp.Nano} {
			p := problem(t, "objective", census.Schema())
			p.Noise, p.Epsilon, p.Rest = noise, eps-eps/100, eps/100
			size := p.Size(10_000)
			d, grid := float64(size.dim), size.term.(interface{ Grid() float64 }).Grid()
			solver, snap := size.gradientBound()/size.reg, grid*math.Sqrt(d)/(2*size.n*size.reg)
			// the division rounds
			if have := size.after.(interface{ Sensitivity() float64 }).Sensitivity() / 2; !(have*(1+1e-12) >= solver+snap) {
				t.Errorf("noise %s, ε %s: the radius is %.17g, must be at least %.17g + %.3g", noise, eps, have, solver, snap)
			}
			if !(snap <= solver) {
				t.Errorf("noise %s, ε %s: snapping moves the solution by %.3g, the solver by %.3g: the grid is too coarse", noise,
					eps, snap, solver)
			}
		}
	}
}
