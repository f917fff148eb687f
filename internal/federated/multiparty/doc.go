// SPDX-License-Identifier: Apache-2.0

// Package multiparty makes one classifier of many parties' votes, private for
// everything that one party holds.
//
// Each party trains what it likes on its own rows and votes on the rows of one
// public table without labels, the auxiliary table. The combiner reads the
// votes and learns from the auxiliary table what the parties together think.
//
//   - Soft: each row counts for every level by the share of parties that voted
//     for it (Hamm, Cao, Belkin 2016, Algorithm 2).
//   - Majority: each row has the level with most votes (Algorithm 1). One vote
//     may turn every row, so its noise is as many times larger as there are
//     parties.
//   - Average: parties hand in logistic coefficients instead of votes, and the
//     mean of them leaves (Pathak, Rane, Raj 2010).
//   - NoisyMax: single rows are answered by a noisy vote, each for a price
//     (Report Noisy Max, Dwork and Roth 2013, section 3.3).
//
// Soft and majority leave as a statistic (Statistic): of the logistic loss only
// the mean of vote × row depends on votes, so its noisy copy is all that need
// leave; or as coefficients with noise (Output), as the paper prints it.
//
// A Secret lets no one see a vote: parties add up in secret.
//
// Claims G-MULTI-1 to G-MULTI-5: what Combine returns is (ε, 0)-DP in everything
// one party holds, hence in each of its rows. The number of parties is public;
// whether a party took part is not: one that did not counts as a constant vote.
// Argument: evidence/guarantees/multiparty.md; tags 1.1 to 5.3.
//
// Time O(parties × rows) to read votes, which are streamed, then some passes
// over the auxiliary table; memory 4 bytes per row and level beyond the table.
//
//	paper                ours
//	M, N                 Parties, rows of the auxiliary table
//	λ                    Reg, on the mean loss of rows of length at most 1
//	α(x)                 share of votes
//	h_1 … h_M            votes files
package multiparty
