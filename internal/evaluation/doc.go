// SPDX-License-Identifier: Apache-2.0

// Package evaluation judges models on held-out rows that are private, at a price.
//
// One measurement leaves: how many rows there are by score and label, with noise. The score is cut
// into cells by a public rule, so that each row is in one cell. Everything else is computed from
// these noisy counts: the areas under curves, log loss, accuracy, precision and recall, calibration,
// a threshold by costs, and the difference between two models. Each number has an interval that
// covers the noise, the sampling of the rows, and the width of the cells.
//
// Claim G-EVALUATION-1 (docs/guarantees/evaluation.md). Whatever the models are, what leaves is
// (ε, δ)-DP at the price that was charged, for the rows or persons of the table.
package evaluation
