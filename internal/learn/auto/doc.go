// SPDX-License-Identifier: Apache-2.0

// Package auto is the default learner: it chooses additive or grids, and trains it.
//
// Claim G-AUTO-1: the result of Fit is (ε, 0)-DP, or (ε, δ)-DP with a δ, for what additive protects. The argument is
// in evidence/guarantees/auto.md; the lines that it depends on have the tags 1.1 to 1.6.
//
//	params.go  decide by public numbers whether the question is worth its price, and
//	           plan it; if it is not, plan additive, or grids
//	both.go    with a δ and enough rows: additive, then grids on top of its score, without a question
//	fit.go     else fit additive for at most 5 % of the price; measure, for 3 %, how much of the first
//	           fit's residuals the best product of columns explains; spend the rest on grids if it
//	           is much, else on additive
//
// Time: as additive or grids, plus a pass over the rows for each set of columns whose products are tested.
package auto
