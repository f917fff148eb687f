// SPDX-License-Identifier: Apache-2.0

package optimize

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Smooth is a convex function whose Hessian costs as much as several gradients.
type Smooth interface {
	// Gradient returns the gradient at x. The caller may retain it.
	Gradient(x []float64) ([]float64, error)
	// Hessian returns the Hessian at the last argument of Gradient, d×d, row-major; the upper triangle
	// is read.
	Hessian() ([]float64, error)
}

// Secant minimises functions that change slightly from one call to the next. It stores an inverse
// Hessian and corrects it after each step by the gradients (the BFGS formula: Nocedal and Wright,
// Numerical Optimization, 2nd ed., equation 6.17), so that most steps cost one gradient. The zero
// Secant is ready to use.
type Secant struct {
	inverse *mat.SymDense // nil: to be computed
}

// shrink is the largest ratio of the gradient's length after a step to that before. If a step leaves
// more, the Hessian is computed again.
const shrink = 0.3

// Minimise steps from start, which it does not change, until the gradient is short enough. It does not
// use values, so that it cannot detect divergence and gives up instead: done is false if a full Newton
// step did not shorten the gradient or the steps are used up. Newton can continue from the Optimum.
// The only errors are those of f. Value stays 0.
func (s *Secant) Minimise(f Smooth, start []float64, lim Limits) (best Optimum, done bool, err error) {
	x := append([]float64(nil), start...)
	grad, err := f.Gradient(x)
	if err != nil {
		return Optimum{}, false, err
	}
	steps := 0
	end := func(done bool) (Optimum, bool, error) {
		return Optimum{X: x, GradNorm: euclideanNorm(grad), Steps: steps}, done, nil
	}
	for ; !(euclideanNorm(grad) <= lim.GradNorm); steps++ {
		fresh := s.inverse == nil
		if fresh {
			if err := s.refreshInverse(f); err != nil {
				return Optimum{}, false, err
			}
		}
		if s.inverse == nil || steps == lim.Steps {
			return end(false)
		}
		next, step, err := s.takeStep(f, x, grad)
		if err != nil {
			return Optimum{}, false, err
		}
		switch was, is := euclideanNorm(grad), euclideanNorm(next); {
		case is <= shrink*was || fresh && is < was:
			for i := range x {
				x[i] += step[i]
			}
			s.correctInverse(step, grad, next)
			grad = next
		case fresh:
			s.inverse = nil
			return end(false)
		case is < was:
			for i := range x {
				x[i] += step[i]
			}
			s.inverse, grad = nil, next
		default:
			s.inverse = nil
			if grad, err = f.Gradient(x); err != nil {
				return Optimum{}, false, err
			}
		}
	}
	return end(true)
}

// refreshInverse inverts the Hessian of f; inverse stays nil if the Hessian is not positive definite
// to working precision.
func (s *Secant) refreshInverse(f Smooth) error {
	h, err := f.Hessian()
	if err != nil {
		return err
	}
	d := int(math.Sqrt(float64(len(h))))
	var chol mat.Cholesky
	var inverse mat.SymDense
	if chol.Factorize(mat.NewSymDense(d, h)) && chol.InverseTo(&inverse) == nil {
		s.inverse = &inverse
	}
	return nil
}

// takeStep takes the step -inverse·grad and returns the new point.
func (s *Secant) takeStep(f Smooth, x, grad []float64) (next, step []float64, err error) {
	step = multiplyVector(s.inverse, grad)
	to := make([]float64, len(x))
	for i := range step {
		step[i] = -step[i]
		to[i] = x[i] + step[i]
	}
	next, err = f.Gradient(to)
	return next, step, err
}

// correctInverse updates inverse so that it maps the change of the gradient to the step that caused
// it. If the curvature along the step is not positive, it discards inverse instead.
func (s *Secant) correctInverse(step, was, is []float64) {
	change := make([]float64, len(was))
	curve := 0.0
	for i := range change {
		change[i] = is[i] - was[i]
		curve += change[i] * step[i]
	}
	if !(curve > 0) {
		s.inverse = nil
		return
	}
	moved := multiplyVector(s.inverse, change)
	length := 0.0
	for i, m := range moved {
		length += m * change[i]
	}
	for i := range step {
		for j := i; j < len(step); j++ {
			add := (1+length/curve)*step[i]*step[j] - moved[i]*step[j] - step[i]*moved[j]
			s.inverse.SetSym(i, j, s.inverse.At(i, j)+add/curve)
		}
	}
}

func multiplyVector(a *mat.SymDense, v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range out {
		sum := 0.0
		for j, x := range v {
			sum += a.At(i, j) * x
		}
		out[i] = sum
	}
	return out
}
