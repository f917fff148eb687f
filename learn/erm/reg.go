// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// swamped is the crowd above which noise in the gradient outweighs the rows.
const swamped = 0.02

// crowd is d/(n·ε): about the length of the noise in the mean gradient, in
// halves. It is all that the rules below know of a table.
func crowd(n, dim int, eps dp.Epsilon) float64 {
	return float64(dim) / (float64(n) * eps.Float())
}

// autoMethod takes the method that has the better answers by crowd. Output
// perturbation pays for slopes at the minimum only, so a ridge that keeps the
// minimum near zero halves its noise; objective perturbation keeps the
// curvature of the loss, which is worth more once the rows are heard. Without
// the number of rows (0) it is Objective.
func autoMethod(n, dim int, eps dp.Epsilon) Method {
	if n > 0 && eps > 0 && crowd(n, dim, eps) >= swamped {
		return Output
	}
	return Objective
}

// DefaultReg is Λ where none is given: a function of the method, of the numbers
// of rows and coefficients and of ε (0: no privacy). The constants, and swamped,
// come from a sweep over generated tables (docs/benchmarks/erm-reg.tsv, written
// by TestSweep), not from any real one; but for the floor, on which generated
// tables have no opinion: the change of variables shall take no more than about
// a fifth of ε from the noise.
func DefaultReg(m Method, n, dim int, eps dp.Epsilon) float64 {
	floor := 0.1 / float64(n)
	if eps == 0 {
		return max(minReg, floor)
	}
	u := crowd(n, dim, eps)
	reg := max(floor, 0.25/math.Expm1(eps.Float()/5)/float64(n))
	switch {
	case m == Objective:
		reg = max(reg, min(40*u*u, 8))
	case u < swamped:
		reg = max(reg, u)
	default:
		reg = 8
	}
	return min(maxReg, max(minReg, reg))
}
