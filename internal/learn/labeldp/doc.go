// SPDX-License-Identifier: Apache-2.0

// Package labeldp fits a logistic regression on public columns to a private label. It uses the label
// through a single vector, which is released with noise.
//
// The logistic loss of a label y in {0, 1} at score z is softplus(z) - y·z. Only the following part of
// the mean loss
//
//	s = (1/n) Σ_i y_i·x_i
//
// depends on labels. Its noisy copy s̃ is released once, and
//
//	(1/n) Σ_i softplus(w·x_i) - w·s̃ + (Λ/2)‖w‖²
//
// is minimised afterwards, which costs nothing. No condition on the minimum is needed. The noise is
// 1/n per unit of row length, half of what output or objective perturbation needs for such a label.
//
// Claim G-LABELDP-1: the result of Fit is (ε, δ)-DP for the label of one row, under replacement; δ is
// 0 except with Gaussian noise. Claim G-LABELDP-2: the same for a label of K > 2 levels, for which K
// vectors s, one per level against the rest, are released together; a label changes two of them.
// Columns that the schema declares private are never read. The argument is in
// evidence/guarantees/labeldp.md; tags 1.1 to 2.2.
//
// Rows that agree on all public columns are one group. Time: one pass over the rows, then Newton steps
// over the groups.
//
// Prefer it if only labels are sensitive; prefer erm or brc if features are. Source: Hamm, Cao,
// Belkin, "Learning privately from multiparty data" (ICML 2016), section 4, applied to rows instead of
// parties.
package labeldp
