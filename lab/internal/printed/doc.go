// SPDX-License-Identifier: Apache-2.0

// Package printed is boosting in the local setting exactly as Wang and Chang
// (2020) print it, in one process: for figures, and to compare with. The command is discreet-lab boost.
//
// It does not keep what it promises. Reports about features are perturbed, but
// the owners also say which label is the majority in each branch (3.5.3), send
// labels beside perturbed samples (3.5.1), and release exact sums of weighted
// errors in every round (Algorithm 2, lines 11 to 13), all owners in all rounds.
// None of that is covered by any ε. Models say so, and nothing here speaks over
// a network. Secure sums (OverShares) hide what an owner adds, not the sum.
//
//	paper                   here
//	l, L, N^l               owner, Params.Owners, rows of an owner
//	m, M, H                 round, Params.Rounds, Params.Group
//	w_i, err_m, α_m         Weights.Of, Round.Err, Round.Vote
//	ε                       Params.Epsilon, of one perturbed vector
//	S^j, equation (5)       stumps.writeTables, stumps.splitCriterion
//	equations (3), (4)      linear.fitLocal, linear.meanParameters
package printed
