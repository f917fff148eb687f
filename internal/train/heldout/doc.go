// SPDX-License-Identifier: Apache-2.0

// Package heldout evaluates models on held-out rows. It divides a table's files into training rows and
// held-out rows, and evaluates a model.
//
// NOTHING HERE IS PRIVATE. The scores are exact and reveal information about the held-out rows. Choosing
// a model by these scores is not covered by any guarantee. Use them for public or synthetic tables, or
// to review a decision that was made without them.
package heldout
