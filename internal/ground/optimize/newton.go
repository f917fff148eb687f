// SPDX-License-Identifier: Apache-2.0

// Package optimize minimises smooth convex functions and certifies the results.
package optimize

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Point is the value and the derivatives of a function at one point.
type Point struct {
	Value float64
	Grad  []float64 // length d
	Hess  []float64 // d×d, row-major; the upper triangle is read
}

// Limits determine when to stop. Both are public numbers.
type Limits struct {
	GradNorm float64 // stop at a gradient no longer than this (Euclidean); > 0
	Steps    int     // stop after this many steps; ≥ 0
}

// Optimum is the end of a search. GradNorm is its certificate, computed from the gradient at that
// point. If it is above the limit, the steps were used up or rounding prevented further descent.
type Optimum struct {
	X        []float64
	Value    float64
	GradNorm float64
	Steps    int
}

const (
	armijo     = 1e-4 // minimum ratio of a step's decrease to the predicted one
	maxHalves  = 40   // a step shorter by 2^-40 has no effect
	roundOff   = 1e-13
	minDamping = 1e-12 // relative to the mean curvature
	maxDamping = 1e+12
)

// Newton minimises f, convex, by damped Newton steps from start, which it does
// not change. A step solves with a Cholesky factor of the Hessian (Nocedal and
// Wright, Numerical Optimization, 2nd ed., Algorithm 3.2), plus a multiple of
// the identity where the Hessian is singular to working precision (Algorithm
// 3.3), and is halved until the value falls. Cost: d³/3 multiplications and one
// evaluation of f for a step that needs no halving, the usual case.
//
// The only errors are those of f.
func Newton(f func(x []float64) (Point, error), start []float64, lim Limits) (Optimum, error) {
	x := append([]float64(nil), start...)
	at, err := f(x)
	if err != nil {
		return Optimum{}, err
	}
	steps := 0
	for ; steps < lim.Steps && !(euclideanNorm(at.Grad) <= lim.GradNorm); steps++ {
		step := newtonDirection(at)
		nextX, next, err := halveSteps(f, x, at, step)
		if err != nil {
			return Optimum{}, err
		}
		if nextX == nil {
			break
		}
		x, at = nextX, next
	}
	return Optimum{X: x, Value: at.Value, GradNorm: euclideanNorm(at.Grad), Steps: steps}, nil
}

// newtonDirection returns -(H + τI)⁻¹g for the smallest τ in its sequence that makes the matrix
// positive definite.
func newtonDirection(at Point) []float64 {
	d := len(at.Grad)
	mean := 0.0
	for i := range d {
		mean += at.Hess[i*d+i] / float64(d)
	}
	if !(mean > 0) {
		mean = 1
	}
	step := mat.NewVecDense(d, nil)
	var chol mat.Cholesky
	for tau := 0.0; ; tau = max(100*tau, minDamping*mean) {
		h := mat.NewSymDense(d, append([]float64(nil), at.Hess...))
		for i := range d {
			h.SetSym(i, i, at.Hess[i*d+i]+tau)
		}
		if chol.Factorize(h) {
			// An ill-conditioned solve still points downhill; the value
			// decides whether it is taken.
			_ = chol.SolveVecTo(step, mat.NewVecDense(d, at.Grad))
			break
		}
		if !(tau < maxDamping*mean) { // not a number in the Hessian
			copy(step.RawVector().Data, at.Grad)
			break
		}
	}
	out := step.RawVector().Data
	for i := range out {
		out[i] = -out[i]
	}
	return out
}

// halveSteps returns the first of x+step, x+step/2, x+step/4, ... that is a sufficient improvement, or
// nil if none is.
func halveSteps(f func(x []float64) (Point, error), x []float64, at Point, step []float64) ([]float64, Point, error) {
	slope := 0.0 // promised change of the value for a full step, negative
	for i, s := range step {
		slope += s * at.Grad[i]
	}
	// Near the minimum the promised descent drowns in the rounding of the
	// value, while the gradient still improves; grant the rounding.
	slack := roundOff * math.Abs(at.Value)
	t := 1.0
	for range maxHalves {
		next := make([]float64, len(x))
		for i := range x {
			next[i] = x[i] + t*step[i]
		}
		there, err := f(next)
		if err != nil {
			return nil, Point{}, err
		}
		if there.Value <= at.Value+armijo*t*slope+slack {
			return next, there, nil
		}
		t /= 2
	}
	return nil, Point{}, nil
}

func euclideanNorm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
