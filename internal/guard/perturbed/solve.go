// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"errors"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/optimize"
)

// All of these are public.
const (
	newtonSteps = 100     // five to ten are usual
	quickSteps  = 60      // steps of minimiseQuickly; five to fifteen are usual
	fewRows     = 1 << 8  // at least
	someRows    = 1 << 10 // at least, and an eighth of all
	near        = 0.25    // a first step that changes no margin by more is close to the minimum
	rough       = 3e-3    // noise in the gradient of a few rows
	halvings    = 30      // per step
	shrink      = 0.7     // a step that leaves a larger part of the gradient is poor
	patience    = 3       // number of consecutive poor steps after which a new Hessian is computed
)

// minimiseSurface returns a point at which the gradient of f has length at most target. f must be
// strongly convex (at least low) with curvature at most high. It uses damped Newton steps. If they
// stall, which has not been observed on any table, it uses accelerated gradient steps, which reach the
// target within a number of steps that depends on low, high and the start alone. It fails only if f
// does, or if f does not have the stated properties.
func minimiseSurface(
	f func(x []float64) (optimize.Point, error), dim int, low, high, target float64,
) ([]float64, error) {
	best, err := optimize.Newton(f, make([]float64, dim), optimize.Limits{GradNorm: target, Steps: newtonSteps})
	if err != nil {
		return nil, err
	}
	if best.GradNorm <= target { // 2.3: the certificate
		return best.X, nil
	}
	return minimiseAccelerated(f, dim, low, high, target)
}

// slopes returns the gradient of J over some rows and, with hess, the Hessian, in mean units.
type slopes func(x []float64, hess bool) (optimize.Point, error)

// minimiseQuickly tries to reach the certificate for the cost of a few gradients. A few rows locate
// the minimum approximately, and a Hessian of some more rows is used for steps on all rows, until a
// Hessian of all rows is worthwhile. It does not use values, so that it may diverge; then done is
// false, and minimiseSurface must be used.
func minimiseQuickly(few, some, all slopes, dim int, target float64) (x []float64, done bool, err error) {
	var chord optimize.Chord
	x = make([]float64, dim)
	at, err := few(x, true)
	if err != nil || !chord.Factor(at.Hess, dim) {
		return nil, false, err
	}
	if vectorLength(chord.Step(at.Grad)) > near {
		for _, rows := range []slopes{few, some} {
			if x, done, err = walkDownhill(rows, &chord, x, rough); err != nil || !done {
				return nil, false, err
			}
		}
		if at, err = some(x, true); err != nil || !chord.Factor(at.Hess, dim) {
			return nil, false, err
		}
	}
	return walkDownhill(all, &chord, x, target)
}

// walkDownhill steps from x until the gradient of f has length at most target.
func walkDownhill(f slopes, chord *optimize.Chord, x []float64, target float64) (to []float64, done bool, err error) {
	at, err := f(x, false)
	if err != nil {
		return nil, false, err
	}
	fresh := false // the Hessian is that of f at x
	poor := 0      // steps in a row that left much
	for range quickSteps {
		was := vectorLength(at.Grad)
		if was <= target { // 2.3: the certificate
			return x, true, nil
		}
		step := chord.Step(at.Grad)
		to := addStep(x, step)
		next, err := f(to, false)
		if err != nil {
			return nil, false, err
		}
		// Where the loss has no curvature, as the Huber-hinge far from its corner,
		// a step of the Hessian goes much too far in a direction that is right.
		for k := 0; fresh && vectorLength(next.Grad) >= was && k < halvings; k++ {
			for i := range step {
				step[i] /= 2
			}
			to = addStep(x, step)
			if next, err = f(to, false); err != nil {
				return nil, false, err
			}
		}
		is := vectorLength(next.Grad)
		if fresh && is >= was {
			break
		}
		chord.Correct(step, at.Grad, next.Grad) // a step that is not taken tells as much
		if is < was {
			x, at = to, next
		}
		if poor++; is <= max(target, shrink*was) {
			poor = 0
		}
		if fresh = poor == patience || fresh && poor > 0; fresh {
			if at, err = f(x, true); err != nil || !chord.Factor(at.Hess, len(x)) {
				return nil, false, err
			}
			poor = 0
		}
	}
	return nil, false, nil
}

func addStep(x, step []float64) []float64 {
	sum := make([]float64, len(x))
	for i := range sum {
		sum[i] = x[i] + step[i]
	}
	return sum
}

// minimiseAccelerated is Nesterov's method with constant momentum, starting at zero. With κ = high/low
// the excess of the value falls at least as (1-1/√κ)^k, and the squared gradient is at most 2·high
// times the excess, which determines the number of steps.
func minimiseAccelerated(
	f func(x []float64) (optimize.Point, error), dim int, low, high, target float64,
) ([]float64, error) {
	x, y := make([]float64, dim), make([]float64, dim)
	root := math.Sqrt(high / low)
	momentum := (root - 1) / (root + 1)
	steps := 1.0
	for k := 0.0; k <= steps; k++ {
		at, err := f(y)
		if err != nil {
			return nil, err
		}
		g := vectorLength(at.Grad)
		if g <= target {
			return y, nil
		}
		if k == 0 {
			steps = math.Ceil(root * math.Log(4*g*g*high/(low*target*target)))
		}
		for i := range x {
			next := y[i] - at.Grad[i]/high
			y[i] = next + momentum*(next-x[i])
			x[i] = next
		}
	}
	return nil, errors.New("the sums are not those of a convex loss")
}

func vectorLength(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
