// SPDX-License-Identifier: Apache-2.0

// Package perturbed minimises a regularised empirical risk over the rows of a guard's table, and
// lets the minimum out with noise: noise in the objective, a random linear term, or noise on the
// minimum. It minimises, over rows x̃ of length at most Norm and labels y = ±1,
//
//	(1/n) Σ_i l(y_i·w·x̃_i) + (Λ/2)‖w‖² + (1/n)·b·w
//
// A row enters as x̃ = (features, 1)/√(columns+1), so its length is at most 1 by the schema alone; a
// smaller Norm projects longer rows. The proof at the exact minimum is carried to the computed one by
// a certificate and its own noise (evidence/guarantees/erm.md; the lines that it leans on carry the tags
// 1.1 to 6.2). What noise a problem has follows from public numbers alone (Size).
//
// Source: Chaudhuri, Monteleoni, Sarwate, "Differentially private empirical risk minimization", JMLR
// 12 (2011), Algorithms 1 and 2.
package perturbed
