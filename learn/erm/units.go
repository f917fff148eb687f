// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"

	"github.com/discreet-dp/discreet/engine"
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
}

// summed is λ.
func (u units) summed() float64 { return u.n * u.reg }

// slopes is how far, in summed units, replacing a row moves the gradient at any
// point: two terms, each of slope at most 1 times a row of length at most R.
func (u units) slopes() float64 { return 2 * u.norm }

// objectiveSize settles the share of ε that the change of variables takes, and
// raises Λ where that share would pass one half (2.1, 3.1). With k = 2 (CMS11
// as printed) or k = 1 (tight):
//
//	ε' = ε - k·log(1 + c·R²/λ); where ε' < ε/2:  λ = c·R²/(exp(ε/2k) - 1), ε' = ε/2.
//
// Everything is a function of public numbers.
func (u units) objectiveSize(eps float64, mode Mode) (raised units, jacobian float64) {
	k := 1.0
	if mode == CMS11 {
		k = 2
	}
	bend := u.curve * u.norm * u.norm // R squared: the curvature of one row is l''·x·xᵀ
	jacobian = k * math.Log1p(bend/u.summed())
	if jacobian > eps/2 {
		u.reg = bend / (u.n * math.Expm1(eps/(2*k)))
		jacobian = eps / 2
	}
	u.reg = max(u.reg, minReg)
	return u, jacobian
}

// outputSensitivity is the L2 sensitivity of the exact minimum without b:
// 2R/(nΛ) (1.1). Tight, for the logistic loss, uses that the minimum cannot lie
// far out: Λ‖w‖ is the length of a mean of rows times slopes, and slopes are at
// most σ(R‖w‖), so ‖w‖ ≤ B implies ‖w‖ ≤ (R/Λ)·σ(R·B). Each turn of the loop
// replaces a valid bound by a valid bound; then slopes at the minimum are at
// most σ(R·B) < 1 (1.2).
func (u units) outputSensitivity(l engine.Loss, mode Mode) float64 {
	slope := 1.0
	if mode == Tight && l == (engine.Loss{}) {
		for range 64 {
			slope = 1 / (1 + math.Exp(-u.norm*slope*u.norm/u.reg))
		}
		slope *= 1 + 0x1p-40
	}
	return u.slopes() * slope / u.summed()
}

// precision returns what the solver must reach and what its answer is sure of:
// lengths of the gradient in mean units. Both grow with the noise of length
// about d·scale that the gradient may hold; their gap covers the rounding of
// the sums. Where the ridge rules they may grow further, by a part in ten
// thousand of what one row moves the gradient, over κ = 1 + c·R²/Λ, which
// lengthens no noise by more than a fiftieth (private is false where there is none).
func (u units) precision(scale float64, private bool) (target, sure float64) {
	target = 1e-11 * (1 + float64(u.dim)*scale/u.n)
	if private {
		target += 1e-4 * u.slopes() / u.n / (1 + u.curve*u.norm*u.norm/u.reg)
	}
	return target, 2 * target
}

// distance is how far a certified point can lie from the minimum.
func (u units) distance(sure float64) float64 { return sure / u.reg }
