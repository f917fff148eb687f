// SPDX-License-Identifier: Apache-2.0

// Package multiparty makes one classifier from many parties' votes. It protects all data of a party
// together.
//
// Each party trains any model on its own rows, and votes on the rows of one public table without
// labels, the auxiliary table. The combiner reads the votes and trains on the auxiliary table.
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
// Soft and Majority release either a statistic (Statistic) or noisy coefficients (Output), as in the
// paper. Only the mean of vote × row in the logistic loss depends on votes, so that its noisy copy is
// sufficient.
//
// With a Secret, no one sees a party's votes: parties compute a secret sum.
//
// Claims G-MULTI-1 to G-MULTI-5: the result of Combine is (ε, 0)-DP for all data of one party
// together, and hence for each of its rows. The number of parties is public. Participation is not: a
// party that did not take part counts as a constant vote. Argument: evidence/guarantees/multiparty.md;
// tags 1.1 to 5.3.
//
// Reading votes takes time O(parties × rows), in a stream, followed by several passes over the
// auxiliary table. Memory is 4 bytes per row and level in addition to the table.
//
//	paper                ours
//	M, N                 Parties, rows of the auxiliary table
//	λ                    Reg, on the mean loss of rows of length at most 1
//	α(x)                 share of votes
//	h_1 … h_M            votes files
package multiparty
