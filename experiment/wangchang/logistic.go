// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"

	"github.com/discreet-dp/discreet/internal/opt"
)

// fitted says how far local fits go: they end at a gradient this short.
const fitted = 1e-4

// logistic minimises the mean of weight·ln(1 + e^{-sign·θ·x}) plus ‖θ‖²/(2n),
// libraries' default, over an owner's n rows. Without intercept: each image's
// shares add up, and each category's levels do. There is one minimiser and the
// number of steps is bounded; the gradient's length is returned as certificate.
func logistic(x design, sign, weight []float64, d int) (theta []float64, gradNorm float64) {
	n := float64(x.rows())
	hess := make([]float64, d*d)
	x.gram(hess)
	most := 0.0
	for _, w := range weight {
		most = max(most, w)
	}
	for j := range hess { // the logistic function bends by 1/4 at most
		hess[j] *= most / (4 * n)
	}
	for j := range d {
		hess[j*d+j] += 1 / n
	}
	var c opt.Chord
	c.Factor(hess, d) // its least eigenvalue is at least 1/n
	theta = make([]float64, d)
	push := make([]float64, x.rows())
	gradient := func() []float64 {
		x.times(theta, push)
		for i, m := range push {
			push[i] = -weight[i] * sign[i] / (1 + math.Exp(sign[i]*m)) / n
		}
		g := make([]float64, d)
		x.back(push, g)
		for j, t := range theta {
			g[j] += t / n
		}
		return g
	}
	const steps = 100
	g := gradient()
	for range steps {
		if math.Sqrt(dot(g, g)) <= fitted {
			break
		}
		step := c.Step(g)
		for j, s := range step {
			theta[j] += s
		}
		next := gradient()
		c.Correct(step, g, next)
		g = next
	}
	return theta, math.Sqrt(dot(g, g))
}
