// SPDX-License-Identifier: Apache-2.0

// Package brc boosts random classifiers: a classifier that is private in the
// private columns (or in whole rows) for the price of T noisy error rates.
//
// Claim G-BRC-1 (partially private, Algorithm 2): with a public label and
// public columns, what Fit returns is (ε, 0)-DP in the private columns of one
// row, under replacement of those. Claim G-BRC-2 (everything private,
// Algorithm 3): in a whole row with its label, under replacement. Claim
// G-BRC-3: the same under adding or removing a row. Claim G-BRC-4 (Algorithm 2
// with a private label, which the paper leaves open): in the private columns and
// the label of one row, or in its label alone, under replacement. Argument:
// evidence/guarantees/brc.md; the lines it leans on carry the tags 1.1 to 1.8.
//
// Time: one pass over the rows for all T classifiers, then T rounds over the
// distinct mistake patterns. Prefer it if a linear score over many weak
// private columns is enough and the proof must be short.
//
// Source: Shen, Krishnaswamy, Kulkarni, Munagala, "Classification with
// Partially Private Features" (arXiv 2312.07583), Algorithms 2 and 3.
//
//	paper         here
//	ε, T          Params.Epsilon, Params.Rounds
//	c1, c2        Params.C1, Params.C2
//	err_t, α_t    noisy weighted error, Member.Vote
//	w_i^pri       weights.units / one (weights.go), per mistake pattern
//
// Deviations, all on the safe side: weights are integers (multiples of 2^-20),
// noise is discrete Laplace on a public grid, and by default its scale follows
// the transcript (Tight) instead of the paper's c1·c2/n.
package brc
