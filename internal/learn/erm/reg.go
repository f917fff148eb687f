// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
)

// swamped is the relative noise in the gradient above which noise outweighs the rows.
const swamped = 0.02

// objectiveRidge is Λ of method objective divided by the square of the relative noise. On generated
// tables 40 is best. On six real ones, balanced and unchanged, half of that has 0.006 more accuracy on
// average (noise blocks; 0.004 with gamma), up to 0.03 to 0.10 at about ε = 0.1, and the same AUC. A
// smaller ridge gains accuracy and loses AUC (evidence/benchmarks/erm-ridge-real.tsv, written by
// TestRidgeOnRealTables).
const objectiveRidge = 20

// mostRidge bounds Λ of the rule, and is its value if noise outweighs the rows with method output.
const mostRidge = 8

// noiseLength is the approximate length of the noise in the mean gradient, in halves, for n rows:
// d/(n·ε) for spherical noise. The rules below use no other property of a table.
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

// autoMethod chooses the more accurate method by the relative noise. Output perturbation pays for
// slopes at the minimum only, so that a ridge that keeps the minimum near zero halves its noise.
// Objective perturbation keeps the curvature of the loss, which is better if there is less noise. If
// the number of rows is unknown (crowd 0), it is Objective.
func autoMethod(crowd float64) Method {
	if crowd >= swamped {
		return Output
	}
	return Objective
}

// DefaultReg is Λ if none is given. It depends on the method, the numbers of rows and coefficients,
// and ε (0: no privacy). The constants, and swamped, come from a sweep over generated tables
// (evidence/benchmarks/erm-reg.tsv, written by TestSweep). The exceptions are objectiveRidge and the
// lower bounds, for which generated tables show no optimum: the change of variables should take at
// most about a third of ε from the noise, and nΛ, which is 1/C in other libraries, should be at least
// a fifth.
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
