// SPDX-License-Identifier: Apache-2.0

// Package auto decides between additive and grids, and trains the one it decides
// for: the default learner.
//
// Claim G-AUTO-1: what Fit returns is (ε, 0)-DP, or (ε, δ)-DP with a δ, in what
// additive protects. Argument: docs/guarantees/auto.md; the lines it leans on carry
// the tags 1.1 to 1.5.
//
//	params.go  decide by public numbers whether the question is worth its price, and
//	           plan it; where it is not, the plan is that of additive, or of grids
//	fit.go     fit additive for 5 % of the price; choose, for as much, between it and
//	           products of columns (permute-and-flip); spend the rest on additive, or
//	           on grids where a product was chosen
//	choose.go  how far what the first fit leaves over lies along a product of columns
//
// Time: that of additive or of grids, and a pass over the rows for each set of columns
// that products are of.
package auto
