// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// fitted says how far local fits go: they end at a gradient this short.
const fitted = 1e-4

// fitter fits one owner's logistic regressions.
type fitter struct {
	x      design
	d      int
	weight []float64
	upper  []float64 // Cholesky factor of a Hessian that is nowhere less than the true one
	steps  [][]float64
	falls  [][]float64 // what each step did to the gradient
	curves []float64   // 1 over their products
}

// newFitter factors the largest Hessian of the mean of weight·ln(1 +
// e^{-sign·θ·x}) plus ‖θ‖²/(2n), libraries' default, over an owner's n rows;
// the logistic function bends by 1/4 at most. It does not depend on the signs,
// so one factor serves all classes.
func newFitter(x design, weight []float64, d int) *fitter {
	n := float64(x.rows())
	most := 0.0
	for _, w := range weight {
		most = max(most, w)
	}
	hess := make([]float64, d*d)
	x.gram(hess)
	for j := range hess {
		hess[j] *= most / (4 * n)
	}
	for j := range d {
		hess[j*d+j] += 1 / n
	}
	var c mat.Cholesky
	c.Factorize(mat.NewSymDense(d, hess)) // the least eigenvalue is at least 1/n
	var u mat.TriDense
	c.UTo(&u)
	return &fitter{x: x, d: d, weight: weight, upper: u.RawTriangular().Data}
}

// fitSigns returns the minimiser for one choice of signs, and the gradient's length
// there as certificate. Without intercept: each image's shares add up, and each
// category's levels do. Steps are L-BFGS from the factor (Nocedal and Wright,
// Algorithm 7.4); their number is bounded.
func (f *fitter) fitSigns(sign []float64) (theta []float64, gradNorm float64) {
	f.steps, f.falls, f.curves = f.steps[:0], f.falls[:0], f.curves[:0]
	n := float64(f.x.rows())
	theta = make([]float64, f.d)
	push := make([]float64, f.x.rows())
	gradient := func() []float64 {
		f.x.times(theta, push)
		for i, m := range push {
			push[i] = -f.weight[i] * sign[i] / (1 + math.Exp(sign[i]*m)) / n
		}
		g := make([]float64, f.d)
		f.x.back(push, g)
		for j, t := range theta {
			g[j] += t / n
		}
		return g
	}
	const steps = 100
	g := gradient()
	for range steps {
		if math.Sqrt(dotProduct(g, g)) <= fitted {
			break
		}
		step := f.newtonDirection(g)
		for j, s := range step {
			theta[j] += s
		}
		next := gradient()
		for j := range g {
			g[j] = next[j] - g[j]
		}
		if curve := dotProduct(step, g); curve > 0 {
			f.steps, f.falls, f.curves = append(f.steps, step), append(f.falls, g), append(f.curves, 1/curve)
		}
		g = next
	}
	return theta, math.Sqrt(dotProduct(g, g))
}

// newtonDirection is -(corrected Hessian)⁻¹·g.
func (f *fitter) newtonDirection(g []float64) []float64 {
	q := append([]float64(nil), g...)
	part := make([]float64, len(f.steps))
	for i := len(f.steps) - 1; i >= 0; i-- {
		part[i] = f.curves[i] * dotProduct(f.steps[i], q)
		addScaled(q, -part[i], f.falls[i])
	}
	f.solveSystem(q)
	for i, s := range f.steps {
		addScaled(q, part[i]-f.curves[i]*dotProduct(f.falls[i], q), s)
	}
	for j := range q {
		q[j] = -q[j]
	}
	return q
}

// solveSystem replaces q by the solution v of UᵀU·v = q.
func (f *fitter) solveSystem(q []float64) {
	d, u := f.d, f.upper
	for i := range d {
		q[i] /= u[i*d+i]
		addScaled(q[i+1:], -q[i], u[i*d+i+1:(i+1)*d])
	}
	for i := d - 1; i >= 0; i-- {
		q[i] = (q[i] - dotProduct(u[i*d+i+1:(i+1)*d], q[i+1:])) / u[i*d+i]
	}
}

// addScaled adds by·v to out.
func addScaled(out []float64, by float64, v []float64) {
	out = out[:len(v)]
	for j, x := range v {
		out[j] += by * x
	}
}
