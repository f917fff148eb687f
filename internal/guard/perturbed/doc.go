// SPDX-License-Identifier: Apache-2.0

// Package perturbed minimises a regularised empirical risk over the rows of a guard's table, and
// releases the minimum with noise: either a random linear term in the objective, or noise on the
// minimum. For rows x̃ of length at most Norm and labels y = ±1, it minimises
//
//	(1/n) Σ_i l(y_i·w·x̃_i) + (Λ/2)‖w‖² + (1/n)·b·w
//
// A row is scaled to x̃ = (features, 1)/√(columns+1), so that its length is at most 1 by the schema
// alone; a smaller Norm projects longer rows. The proof is for the exact minimum. A certificate and
// its own noise extend it to the computed one (evidence/guarantees/erm.md; the lines that it depends
// on have the tags 1.1 to 6.2). The noise of a problem depends on public numbers alone (Size).
//
// Source: Chaudhuri, Monteleoni, Sarwate, "Differentially private empirical risk minimization", JMLR
// 12 (2011), Algorithms 1 and 2.
package perturbed
