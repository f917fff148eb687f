// SPDX-License-Identifier: Apache-2.0

// Package brc boosts random classifiers. The result is private for the private columns (or for whole
// rows), at the price of T noisy error rates.
//
// Claim G-BRC-1 (partially private, Algorithm 2): with a public label, the result of Fit is (ε, 0)-DP
// for the private columns of one row, under replacement of those. Claim G-BRC-2 (everything private,
// Algorithm 3): the same for a whole row with its label, under replacement. Claim G-BRC-3: the same
// under adding or removing a row. Claim G-BRC-4 (Algorithm 2 with a private label, which the paper
// leaves open): the same for the private columns and the label of one row, or for its label alone,
// under replacement. The argument is in evidence/guarantees/brc.md; the lines that it depends on have
// the tags 1.1 to 1.8.
//
// Time: one pass over the rows for all T classifiers, then T rounds over the distinct mistake
// patterns. Prefer it if a linear score over many weak private columns is enough and the proof must be
// short.
//
// Source: Shen, Krishnaswamy, Kulkarni, Munagala, "Classification with Partially Private Features"
// (arXiv 2312.07583), Algorithms 2 and 3.
//
//	paper         here
//	ε, T          Params.Epsilon, Params.Rounds
//	c1, c2        Params.C1, Params.C2
//	err_t, α_t    noisy weighted error, Member.Vote
//	w_i^pri       weights in integer units (package mistakes), per mistake pattern
//
// Deviations, all on the safe side: weights are integers (multiples of 2^-20), noise is discrete
// Laplace on a public grid, and by default its scale follows the transcript (Tight) instead of the
// paper's c1·c2/n.
package brc
