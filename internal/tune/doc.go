// SPDX-License-Identifier: Apache-2.0

// Package tune picks among candidates, a learner with its parameters each, at a
// stated price: never for free.
//
// A random part of the rows judges, the rest trains. Claim G-TUNE-1: where every
// candidate is trained and one is selected, what Fit returns is (ε, 0)-DP in
// what all candidates protect of one row, under replacement. Claim G-TUNE-2:
// the same where candidates are trained a random number of times and the best
// is released, at 2+η times the price of one training. Argument:
// evidence/guarantees/tune.md; the lines it leans on carry the tags 1.1 to 1.9.
//
// Sources: Liu and Talwar, "Private Selection from Private Candidates" (STOC
// 2019); Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential
// Privacy" (ICLR 2022); McKenna and Sheldon, "Permute-and-Flip" (NeurIPS 2020).
//
//	papers        here
//	Q             one run: draw a candidate, train it, judge it
//	K ~ D(η, γ)   stopping.draw, γ = 1/Params.Patience
//
// Deviations: K is drawn exactly, by coins with rational probabilities; training
// and judging use different rows, so one run costs the larger of their prices
// and not the sum.
package tune
