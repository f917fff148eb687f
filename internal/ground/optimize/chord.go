// SPDX-License-Identifier: Apache-2.0

package optimize

import "gonum.org/v1/gonum/mat"

// Chord minimises smooth convex functions by steps with one Cholesky factor of a Hessian, computed at
// an earlier point or for a similar function. It corrects the factor by the gradients since then
// (L-BFGS: Nocedal and Wright, Numerical Optimization, 2nd ed., Algorithm 7.4, with the factor in
// place of the initial scaling). A step costs one gradient and O(d²).
type Chord struct {
	chol  mat.Cholesky
	pairs []pair
}

// pair is a step, the change of the gradient, and 1 divided by their product.
type pair struct {
	step, change []float64
	curve        float64
}

// Factor sets a new Hessian (d×d, row-major; the upper triangle is read) and forgets past gradients.
// It returns false if the matrix is not positive definite to working precision; the Chord then needs
// another one.
func (c *Chord) Factor(hess []float64, d int) bool {
	c.pairs = c.pairs[:0]
	return c.chol.Factorize(mat.NewSymDense(d, hess))
}

// Step returns -(corrected Hessian)⁻¹·grad.
func (c *Chord) Step(grad []float64) []float64 {
	q := append([]float64(nil), grad...)
	part := make([]float64, len(c.pairs))
	for i := len(c.pairs) - 1; i >= 0; i-- {
		p := &c.pairs[i]
		part[i] = p.curve * innerProduct(p.step, q)
		for j, y := range p.change {
			q[j] -= part[i] * y
		}
	}
	v := mat.NewVecDense(len(q), q)
	_ = c.chol.SolveVecTo(v, v) // ill-conditioned solves are told by the next gradient
	for i := range c.pairs {
		p := &c.pairs[i]
		b := part[i] - p.curve*innerProduct(p.change, q)
		for j, s := range p.step {
			q[j] += b * s
		}
	}
	for j := range q {
		q[j] = -q[j]
	}
	return q
}

// Correct records that step changed the gradient from was to is.
func (c *Chord) Correct(step, was, is []float64) {
	change := make([]float64, len(was))
	for i := range change {
		change[i] = is[i] - was[i]
	}
	if curve := innerProduct(step, change); curve > 0 {
		c.pairs = append(c.pairs, pair{step, change, 1 / curve})
	}
}

func innerProduct(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
