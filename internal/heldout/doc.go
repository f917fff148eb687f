// SPDX-License-Identifier: Apache-2.0

// Package heldout judges models on rows that they did not see. It divides a table's files
// into rows to train on and rows to judge by, evaluates one model, and compares learners:
// each is trained at each ε on a random part of a table and judged on the rest, again and
// again.
//
// NOTHING HERE IS PRIVATE. The scores are exact and tell about the held-out
// rows, each training is a release of its own, and so choosing by them uses
// the table without limit: for public or synthetic tables, or to look back at a
// decision that was made without them.
//
// A seed says which random splits are drawn, so that comparisons can share them.
// Noise is fresh in every fit and cannot be reproduced.
package heldout
