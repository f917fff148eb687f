// SPDX-License-Identifier: Apache-2.0

// Package tune selects one of several candidates, which are learners with parameters, at a stated
// price. Selection is never free.
//
// Candidates are trained on one random part of the rows and evaluated on the rest. Claim G-TUNE-1: if
// every candidate is trained and one is selected, the result of Fit is (ε, 0)-DP under replacement,
// for the part of one row that all candidates protect. Claim G-TUNE-2: the same holds if candidates
// are trained a random number of times and the best is released, at 2+η times the price of one
// training. The argument is in evidence/guarantees/tune.md; the lines that it depends on have the tags
// 1.1 to 1.9.
//
// Sources: Liu and Talwar, "Private Selection from Private Candidates" (STOC 2019); Papernot and
// Steinke, "Hyperparameter Tuning with Renyi Differential Privacy" (ICLR 2022); McKenna and Sheldon,
// "Permute-and-Flip" (NeurIPS 2020).
//
//	papers        here
//	Q             one run: draw a candidate, train it, judge it
//	K ~ D(η, γ)   stopping.draw, γ = 1/Params.Patience
//
// Deviations: K is drawn exactly, by Bernoulli draws with rational probabilities. Training and
// evaluation use different rows, so that one run costs the larger of their prices and not the sum.
package tune
