// SPDX-License-Identifier: Apache-2.0

// Package predict adds a model's predictions to a table: labels, scores and, on request, the
// contribution of each column and an interval for the effect of noise on a score.
package predict
