// SPDX-License-Identifier: Apache-2.0

// Package labeldp fits a logistic regression on public columns to a private
// label: the label enters through one vector, and that vector is released.
//
// The logistic loss of a label y in {0, 1} at score z is softplus(z) - y·z. So
// of the mean loss only
//
//	s = (1/n) Σ_i y_i·x_i
//
// depends on labels; its noisy copy s̃ leaves once, and
//
//	(1/n) Σ_i softplus(w·x_i) - w·s̃ + (Λ/2)‖w‖²
//
// is minimised afterwards, which costs nothing. There is no condition on the
// minimum, and the noise is 1/n per unit of row length, half of what output or
// objective perturbation pays for such a label alone.
//
// Claim G-LABELDP-1: what Fit returns is (ε, δ)-DP in the label of one row, under
// replacement; δ is 0 but for Gaussian noise. Claim G-LABELDP-2: the same of a
// label of K > 2 levels, where K vectors s, one per level against the rest, leave
// at once; a label moves two of them. Columns that the schema declares private are never read.
// Argument: evidence/guarantees/labeldp.md; tags 1.1 to 2.2.
//
// Rows that agree on all public columns are one group. Time: one pass over the
// rows, then Newton steps over the groups.
//
// Prefer it if labels alone are sensitive; prefer erm or brc where features
// are. Source: Hamm, Cao, Belkin, "Learning privately from multiparty data"
// (ICML 2016), section 4, turned from parties to rows.
package labeldp
