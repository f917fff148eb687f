// SPDX-License-Identifier: Apache-2.0

// Package compare draws learners against ε: each is trained at each ε on a random part of a table
// and judged on the rest, again and again.
//
// NOTHING HERE IS PRIVATE. The scores are exact and tell about the held-out
// rows, each training is a release of its own, and so choosing by them uses
// the table without limit: for public or synthetic tables, or to look back at a
// decision that was made without them.
//
// A seed says which random splits are drawn, so that comparisons can share them.
// Noise is fresh in every fit and cannot be reproduced.
package compare
