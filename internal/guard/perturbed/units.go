// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Two unit systems describe one minimum. Mean units, everywhere but here:
//
//	J(w) = (1/n) Σ l + (Λ/2)‖w‖² + (1/n)·b·w
//
// and summed units n·J, in which the privacy argument runs, since replacing a
// row changes one summand:
//
//	n·J(w) = Σ l + (λ/2)‖w‖² + b·w,   λ = n·Λ.
//
// b is the same vector in both. A gradient certificate ‖∇J‖ ≤ γ in mean units
// puts w within γ/Λ of the minimum, in either. scikit-learn's C is 1/λ.
type units struct {
	n     float64 // rows
	reg   float64 // Λ in use
	norm  float64 // R: no row is longer
	curve float64 // c: largest second derivative of the loss
	dim   int     // d
	// What noise shaped like rows knows more: the sizes of the blocks of a row,
	// and the largest entry of one.
	blocks []int
	cell   float64
}

// summedPenalty is λ.
func (u units) summedPenalty() float64 { return u.n * u.reg }

// rowSlopes is how far, in summed units, replacing a row moves the gradient at any
// point: two terms, each of slope at most 1 times a row of length at most R.
func (u units) rowSlopes() float64 { return 2 * u.norm }

// objectiveSize settles the share of ε that the change of variables takes, and
// raises Λ where that share would pass one half (2.1, 3.1). With k = 2 (as
// printed) or k = 1 (tight):
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

// lossSlope bounds the slopes of the loss at a minimum without b: 1 (1.1). Tight, for the logistic
// loss, uses that the minimum cannot lie far out: Λ‖w‖ is the length of a mean of rows times
// slopes, and slopes are at most σ(R‖w‖), so ‖w‖ ≤ B implies ‖w‖ ≤ (R/Λ)·σ(R·B). Each turn of the
// loop replaces a valid bound by a valid bound; then slopes at the minimum are at most σ(R·B) < 1
// (1.2).
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

// leastGradient is the least gradient asked for, in mean units: well above what the
// rounding of sums leaves where the gradient holds noise of this length.
func (u units) leastGradient(noise float64) float64 { return 1e-11 * (1 + noise/u.n) }

// outputPrecision is the gradient asked of the solver where the minimum moves by
// slope times what slopes of 1 would make of it: so much that noise grows by a
// fiftieth.
func (u units) outputPrecision(noise Noise, slope float64) float64 {
	reach := u.norm
	if noise == Blocks {
		reach = u.cell / math.Sqrt(float64(widestBlock(u.blocks)))
	}
	return u.leastGradient(0) + slope*reach/u.n/100
}

// objectivePrecision is the gradient asked of the solver where b is of the given
// length and the remainder has rest of ε: so much that the remainder's noise
// costs at most 1/64 of the loss that b costs, in the quadratic model with
// Hessian H, of trace at most d·Λ + c·R². With σ², τ² the mean squares of a
// coordinate of b and of the remainder these are σ²·tr(H⁻¹)/2n² ≥ σ²·d²/(2n²·tr H)
// and τ²·tr(H)/2.
func (u units) objectivePrecision(length, rest float64) float64 {
	d := float64(u.dim)
	sure := rest * length / (16 * math.Sqrt(d*(d+1)) * u.n * (1 + u.curve*u.norm*u.norm/(d*u.reg)))
	return u.leastGradient(length) + sure/2
}

// minimumDistance is how far a certified point can lie from the minimum.
func (u units) minimumDistance(sure float64) float64 { return sure / u.reg }

// snappingBound bounds by how much the gradient of J, in mean units, moves where the
// linear term is snapped to its grid: each of its d numbers by half a step (2.5).
func (u units) snappingBound(term mech.Mechanism) float64 {
	step := term.(interface{ Grid() float64 }).Grid()
	return step * math.Sqrt(float64(u.dim)) / (2 * u.n) * (1 + 0x1p-40)
}
