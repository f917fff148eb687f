// SPDX-License-Identifier: Apache-2.0

// Package evaluation evaluates models on private held-out rows, at a price.
//
// Only one measurement is released: the noisy number of rows by score and label. A public rule divides
// the scores into cells, so that each row is in one cell. Everything else is computed from these noisy
// counts: the areas under curves, log loss, accuracy, precision and recall, calibration, a threshold
// by costs, and the difference between two models. Each number has an interval that covers the noise,
// the sampling of the rows, and the width of the cells.
//
// Claim G-EVALUATION-1 (evidence/guarantees/evaluation.md). For any models, the release is (ε, δ)-DP
// at the price that was charged, for the rows or persons of the table.
package evaluation
