// SPDX-License-Identifier: Apache-2.0

// Package additive fits a sum of step functions, one per column and one per
// declared pair of columns, to the log-odds of a label: the default learner.
//
// Claim G-ADDITIVE-1 (label public): what Fit returns is (ε, 0)-DP in the
// private columns of one row, under replacement of those. Claim G-ADDITIVE-2
// (label private, replace-one): in a whole row with its label. Claim
// G-ADDITIVE-3 (add-remove): under adding or removing a row. Argument:
// docs/guarantees/additive.md; the lines it leans on carry the tags 1.1 to 1.8.
//
// What it does, in order:
//
//	public.go   fit the public columns to a public label, for free, as a score;
//	            or release the share of the positive label
//	edges.go    where the schema asks for it, count rows in fine cells (Laplace)
//	            and cut numbers by that
//	release.go  per round: pick a column (permute-and-flip) where ε is scarce,
//	            and let its weighted cells by bin and label out (Laplace)
//	pairs.go    after the columns, the same for each declared pair, where ε allows
//	smooth.go   turn noisy cells into log-odds: a posterior mean that knows the
//	            law of the noise, free
//	slopes.go   draw lines between the middles of a number's bins, free
//
// A row weighs min(1, exp(-margin)), the margin being that of the score so far
// (the weights of MadaBoost, Domingo and Watanabe 2000): at most 1 whatever was
// released, and consistent for the log-odds. So a row moves a release by at most
// 1 where it is added, 2 where it is replaced.
//
// There is nothing to tune: the number of rounds, bins and the shares of ε
// follow from ε, the schema and the number of rows by rules.go, which was
// settled once on public data (docs/decisions/0004-additive.md).
//
// Without privacy (greedy.go) all columns are fitted alike, and pairs are found.
//
// A label of more than two levels has files of its own, levels*.go, and the claim
// G-ADDITIVE-5: plain cells of bin by level, in which a row lies once however many
// levels there are, columns picked by what the score so far leaves over, then how
// much each column counts. LevelsPlan says it in order.
//
// Time: one pass over the rows, O(n·columns), or one for each round where ε
// allows rounds to look at what earlier ones left. Prefer it to brc unless the
// proof must be that of a paper.
package additive
