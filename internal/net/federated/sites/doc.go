// SPDX-License-Identifier: Apache-2.0

// Package sites implements one training over the rows of several sites, without revealing any row: the
// messages, the masks, and both ends of a measurement.
//
// A coordinator runs a learner behind a guard.OpenAcross. Each measurement becomes an Ask, which
// contains questions to a table, the way to compute numbers from their answers, and the share of the
// price. A site computes the same numbers behind its own guard, which bounds the influence of a row
// and enforces the charged bill, and adds its share of the noise. Masks shared by each pair of sites
// hide everything but the total.
//
//	coordinator ── Training ──► sites ── Joined (fresh key, signed) ──► coordinator
//	coordinator ── Set of all Joined ──► sites, which charge
//	coordinator ── Ask ──► sites ── masked sums with noise ──► coordinator, which adds up
//
// Claims G-SITES-2 and, of sites that may leave, G-SITES-3; evidence/guarantees/sites.md.
package sites
