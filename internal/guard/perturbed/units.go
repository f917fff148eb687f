// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Two systems of units describe the same minimum. Mean units are used everywhere except here:
//
//	J(w) = (1/n) Σ l + (Λ/2)‖w‖² + (1/n)·b·w
//
// Summed units n·J are used in the privacy argument, since replacing a row changes one term:
//
//	n·J(w) = Σ l + (λ/2)‖w‖² + b·w,   λ = n·Λ.
//
// b is the same vector in both. A gradient certificate ‖∇J‖ ≤ γ in mean units puts w within γ/Λ of the
// minimum, in either. scikit-learn's C is 1/λ.
type units struct {
	n     float64 // number of rows
	reg   float64 // Λ in use
	norm  float64 // R: largest length of a row
	curve float64 // c: largest second derivative of the loss
	dim   int     // d
	// Additional facts for noise shaped like rows: the sizes of the blocks of a row, and the largest
	// entry of a row.
	blocks []int
	cell   float64
}

// summedPenalty is λ.
func (u units) summedPenalty() float64 { return u.n * u.reg }

// rowSlopes bounds the change of the gradient at any point, in summed units, if one row is replaced:
// two terms, each with slope at most 1 times a row of length at most R.
func (u units) rowSlopes() float64 { return 2 * u.norm }

// objectiveSize computes the share of ε for the change of variables, and raises Λ if that share would
// exceed one half (2.1, 3.1). With k = 2 (as printed) or k = 1 (tight):
//
//	ε' = ε - k·log(1 + c·R²/λ); where ε' < ε/2:  λ = c·R²/(exp(ε/2k) - 1), ε' = ε/2.
//
// Everything is a function of public numbers.
func (u units) objectiveSize(eps float64, printed bool) (raised units, jacobian float64) {
	k := 1.0
	if printed {
		k = 2
	}
	bend := u.curve * u.norm * u.norm // R squared: the curvature of one row is l''·x·xᵀ
	jacobian = k * math.Log1p(bend/u.summedPenalty())
	if jacobian > eps/2 {
		u.reg = bend / (u.n * math.Expm1(eps/(2*k)))
		jacobian = eps / 2
	}
	u.reg = max(u.reg, MinReg)
	return u, jacobian
}

// lossSlope bounds the slopes of the loss at a minimum without b by 1 (1.1). The tight bound for the
// logistic loss uses that the minimum cannot be far out: Λ‖w‖ is the length of a mean of rows times
// slopes, and slopes are at most σ(R‖w‖), so that ‖w‖ ≤ B implies ‖w‖ ≤ (R/Λ)·σ(R·B). Each iteration
// of the loop replaces a valid bound by another valid bound; slopes at the minimum are then at most
// σ(R·B) < 1 (1.2).
func (u units) lossSlope(l engine.Loss, printed bool) float64 {
	slope := 1.0
	if !printed && l == (engine.Loss{}) {
		for range 64 {
			slope = 1 / (1 + math.Exp(-u.norm*slope*u.norm/u.reg))
		}
		slope *= 1 + 0x1p-40
	}
	return slope
}

// leastGradient is the smallest target for the gradient, in mean units. It is well above the rounding
// error of sums if the gradient contains noise of this length.
func (u units) leastGradient(noise float64) float64 { return 1e-11 * (1 + noise/u.n) }

// outputPrecision is the target for the gradient if noise is on the minimum, which moves by slope
// times its movement for slopes of 1. At this target the noise grows by a fiftieth.
func (u units) outputPrecision(noise Noise, slope float64) float64 {
	reach := u.norm
	if noise == Blocks {
		reach = u.cell / math.Sqrt(float64(widestBlock(u.blocks)))
	}
	return u.leastGradient(0) + slope*reach/u.n/100
}

// objectivePrecision is the target for the gradient if b has the given length and the remainder has
// the part rest of ε. At this target the remainder's noise costs at most 1/64 of the loss that b
// costs, in the quadratic model with Hessian H of trace at most d·Λ + c·R². If σ² and τ² are the mean
// squares of a coordinate of b and of the remainder, these costs are σ²·tr(H⁻¹)/2n² ≥ σ²·d²/(2n²·tr H)
// and τ²·tr(H)/2.
func (u units) objectivePrecision(length, rest float64) float64 {
	d := float64(u.dim)
	sure := rest * length / (16 * math.Sqrt(d*(d+1)) * u.n * (1 + u.curve*u.norm*u.norm/(d*u.reg)))
	return u.leastGradient(length) + sure/2
}

// minimumDistance bounds the distance of a certified point from the minimum.
func (u units) minimumDistance(sure float64) float64 { return sure / u.reg }

// snappingBound bounds the change of the gradient of J, in mean units, when the linear term is rounded
// to its grid: each of its d numbers changes by at most half a step (2.5).
func (u units) snappingBound(term mech.Mechanism) float64 {
	step := term.(interface{ Grid() float64 }).Grid()
	return step * math.Sqrt(float64(u.dim)) / (2 * u.n) * (1 + 0x1p-40)
}
