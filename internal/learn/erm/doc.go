// SPDX-License-Identifier: Apache-2.0

// Package erm fits a linear classifier by regularised empirical risk minimisation with everything
// private: every column and the label, whatever roles the schema declares.
//
// It minimises, over rows x̃ of length at most Norm and labels y = ±1,
//
//	(1/n) Σ_i l(y_i·w·x̃_i) + (Λ/2)‖w‖² + (1/n)·b·w
//
// for the logistic or the Huber-hinge loss l (a private SVM), where b is noise (method objective) or
// zero, with noise added to w afterwards (method output).
//
// Claim G-ERM-1 (output perturbation), G-ERM-2 (objective perturbation, mode cms11) and G-ERM-3 (mode
// tight): the result of Fit is (ε, 0)-DP for a whole row, under replacement. The argument is in
// evidence/guarantees/erm.md; the lines that it depends on have the tags 1.1 to 6.2. Noise blocks, the
// default, is G-ERM-5.
//
// If noise is so large that a strong ridge is best, the intercept is chosen again by the number of
// correctly classified rows, for a fifth of ε (G-ERM-6). If only the order of rows matters,
// NoThreshold is better.
//
// A label of K > 2 levels takes K fits, each level against the rest at about ε/K (G-ERM-4), and K
// times as long. If the schema declares weights of levels, rows are weighted by them, divided by the
// largest.
//
// A row is scaled to x̃ = (features, 1)/√(columns+1), so that its length is at most 1 by the schema
// alone; a smaller declared Norm projects longer rows. The constant belongs to the intercept, which is
// regularised like the other coefficients.
//
// Time: three to twelve gradients over the coded rows, a Hessian over a few hundred rows and one over
// an eighth of them, and as many d×d factors; a table's first fit takes about twice as long, because
// it prepares the rows. Prefer it to brc if everything is private or ε·n is large compared with the
// number of features; prefer brc for few private columns and useful public ones.
//
// Source: Chaudhuri, Monteleoni, Sarwate, "Differentially private empirical risk minimization", JMLR
// 12 (2011), Algorithms 1 and 2.
//
//	paper      here
//	ε_p        Params.Epsilon
//	Λ          Params.Reg, on the MEAN loss; summed units nΛ appear in package perturbed only
//	b, β       perturbed.units.termNoise; β = 1/scale of mech.Objective
//	c          engine.Loss.Curvature
//	Δ, ε'_p    perturbed.units.objectiveSize
//
// Deviations: the proof is for the exact minimum, and is extended to the computed one by a certificate
// and its own noise; the fallback is used whenever ε' < ε/2; for rows of length R ≠ 1, c is replaced
// by c·R².
package erm
