// SPDX-License-Identifier: Apache-2.0

// Package heldout evaluates models on held-out rows. It divides a table's files into training rows and
// held-out rows, evaluates one model, and compares learners: each is trained repeatedly at each ε on a
// random part of a table and evaluated on the rest.
//
// NOTHING HERE IS PRIVATE. The scores are exact and reveal information about the held-out rows, and
// each training is a separate release. Choosing a model by these scores is not covered by any
// guarantee. Use them for public or synthetic tables, or to review a decision that was made without
// them.
//
// A seed determines the random splits, so that comparisons can share them. Noise is fresh in every fit
// and cannot be reproduced.
package heldout
