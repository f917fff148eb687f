// SPDX-License-Identifier: Apache-2.0

// Package predict adds what a model says of the rows of a table to the table:
// labels, scores, and on request what each column adds and how far noise may have
// moved a score.
package predict
