// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"errors"
	"math"

	"github.com/discreet-dp/discreet/internal/opt"
)

// newtonSteps is public. Five to ten are usual.
const newtonSteps = 100

// minimise returns a point where the gradient of f is at most target long. f is
// strongly convex (at least low) with curvature at most high. Damped Newton
// steps get there; should they stall, which no table has been seen to cause,
// accelerated gradient steps must get there within a number of steps that
// depends on low, high and the start alone. So it fails only when f does, or
// when f is not what it says.
func minimise(f func(x []float64) (opt.Point, error), dim int, low, high, target float64) ([]float64, error) {
	best, err := opt.Newton(f, make([]float64, dim), opt.Limits{GradNorm: target, Steps: newtonSteps})
	if err != nil {
		return nil, err
	}
	if best.GradNorm <= target { // 2.3: the certificate
		return best.X, nil
	}
	return accelerated(f, dim, low, high, target)
}

// accelerated is Nesterov's method with constant momentum, from zero. With κ =
// high/low the value's excess falls at least as (1-1/√κ)^k, and the square of
// the gradient is at most 2·high times the excess; hence the number of steps.
func accelerated(f func(x []float64) (opt.Point, error), dim int, low, high, target float64) ([]float64, error) {
	x, y := make([]float64, dim), make([]float64, dim)
	root := math.Sqrt(high / low)
	momentum := (root - 1) / (root + 1)
	steps := 1.0
	for k := 0.0; k <= steps; k++ {
		at, err := f(y)
		if err != nil {
			return nil, err
		}
		g := length(at.Grad)
		if g <= target {
			return y, nil
		}
		if k == 0 {
			steps = math.Ceil(root * math.Log(4*g*g*high/(low*target*target)))
		}
		for i := range x {
			next := y[i] - at.Grad[i]/high
			y[i] = next + float64(momentum*(next-x[i]))
			x[i] = next
		}
	}
	return nil, errors.New("the sums are not those of a convex loss")
}

func length(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}
