// SPDX-License-Identifier: Apache-2.0

// Package sites is one training over the rows of several sites, none of which shows any: the messages,
// the masks, and the two ends of a measurement.
//
// A coordinator runs a learner behind a guard.OpenAcross. Each measurement becomes an Ask, which names
// questions to a table, how the numbers follow from their answers, and the share of the price. A site
// forms the same numbers behind its own guard, which bounds what a row counts for and keeps to the bill
// that was charged, and adds its share of the noise. Masks that each two sites have in common hide all
// but the total.
//
//	coordinator ── Training ──► sites ── Joined (fresh key, signed) ──► coordinator
//	coordinator ── Set of all Joined ──► sites, which charge
//	coordinator ── Ask ──► sites ── masked sums with noise ──► coordinator, which adds up
//
// Claim G-SITES-2; evidence/guarantees/sites.md.
package sites
