// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// swamped is the crowd above which noise in the gradient outweighs the rows.
const swamped = 0.02

// objectiveRidge is Λ of method objective by the square of crowd. Generated tables
// like 40 best. On six real ones, balanced and as they come, half of that has .006
// more accuracy on average (noise blocks; .004 with gamma), up to .03 to .10 about
// ε = .1, and the same AUC; less ridge gains more accuracy and loses AUC
// (evidence/benchmarks/erm-ridge-real.tsv, written by TestRidgeOnRealTables).
const objectiveRidge = 20

// mostRidge bounds Λ of the rule, and is what it is where noise outweighs the rows under method output.
const mostRidge = 8

// noiseLength is about the length of the noise in the mean gradient, in halves, where
// n rows are given: d/(n·ε) of spherical noise. It is all that the rules below
// know of a table.
func (pl *Plan) noiseLength(n int) float64 {
	if n == 0 || pl.NotPrivate {
		return 0
	}
	noise := pl.Noise
	if noise == AutoNoise {
		noise = Blocks // of method objective, which is what methods are compared by
	}
	p := perturbed.Problem{Space: pl.space, Norm: pl.Norm, Noise: noise, Epsilon: pl.Epsilon}
	return p.Crowd(n)
}

// autoMethod takes the method that has the better answers by crowd. Output
// perturbation pays for slopes at the minimum only, so a ridge that keeps the
// minimum near zero halves its noise; objective perturbation keeps the
// curvature of the loss, which is worth more once the rows are heard. Without
// the number of rows (crowd 0) it is Objective.
func autoMethod(crowd float64) Method {
	if crowd >= swamped {
		return Output
	}
	return Objective
}

// DefaultReg is Λ if none is given: a function of the method, of the numbers
// of rows and coefficients and of ε (0: no privacy). The constants, and swamped,
// come from a sweep over generated tables (evidence/benchmarks/erm-reg.tsv, written
// by TestSweep), but for objectiveRidge and for the floors, on which generated
// tables have no opinion: the change of variables shall take no more than about
// a third of ε from the noise, and nΛ, which is 1/C of other libraries, shall
// not fall below a fifth.
func DefaultReg(m Method, n int, crowd float64, eps dp.Epsilon) float64 {
	if eps == 0 {
		return max(perturbed.MinReg, 0.1/float64(n))
	}
	reg := max(0.2, 0.25/math.Expm1(eps.Float()/3)) / float64(n)
	switch {
	case m == Objective:
		reg = max(reg, min(objectiveRidge*crowd*crowd, mostRidge))
	case crowd < swamped:
		reg = max(reg, crowd)
	default:
		reg = mostRidge
	}
	return min(perturbed.MaxReg, max(perturbed.MinReg, reg))
}
