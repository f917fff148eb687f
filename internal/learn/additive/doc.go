// SPDX-License-Identifier: Apache-2.0

// Package additive fits a sum of step functions, one per column and one per declared pair of
// columns, to the log-odds of a label, or to the log-shares of its classes if there are more
// than two. The default learner, auto, trains it unless columns interact.
//
// Claims G-ADDITIVE-1 (label public), G-ADDITIVE-2 (label private, replace-one) and G-ADDITIVE-3
// (add-remove): what Fit returns is (ε, 0)-DP in the private columns of one row, in a whole row
// with its label, or in the presence of a row. G-ADDITIVE-4 is the same with a δ, G-ADDITIVE-5 that
// of more than two classes, G-ADDITIVE-6 that of a private label beside public columns. Argument:
// evidence/guarantees/additive.md; the lines it leans on carry the tags 1.1 to 1.9 and 2.1.
//
//	params.go      check public choices and plan a fit: rules.go, bins.go and bill.go
//	ask.go         every release: what leaves, and by how much it moves between neighbours
//	fit.go         charge, then run the algorithm of two classes or of more
//	public.go      fit the public columns to a public label, for free, as a start
//	fitpublic.go   the model of that start alone
//	labels.go      beside a private label, release the positive rows of public columns and fit those
//	binary.go      two classes: per round, pick a column where ε is scarce, and release its weighted
//	               cells by bin and class; then the same for each declared pair, where ε allows
//	multiclass.go  more classes: per round, release the rows of a column by bin and class; then how
//	               much each column counts; then, if rows are plenty, what is left over
//	calibrate.go   two classes: rounds by the rarer class, and the finished score stretched to what
//	               its own cells say
//	slopes.go      draw lines between the middles of a number's bins, free
//	moved.go       what noise alone did to scores, from what was released
//
// Package shrink turns what was released into log-odds and shares, free.
//
// With two classes a row weighs min(1, exp(-margin)), the margin being that of the score so far
// (the weights of MadaBoost, Domingo and Watanabe 2000): at most 1 whatever was released, and
// consistent for the log-odds. With more it counts once in each column, however many classes there
// are. So a row moves a release by at most 1 if it is added, 2 if it is replaced.
//
// There is nothing to tune: the number of rounds, bins and the shares of ε follow from ε, the
// schema and the number of rows by rules.go, which was settled once on public data
// (evidence/decisions/0004-additive.md).
//
// Time: one pass over the rows, O(n·columns), or one for each round where ε allows rounds to look
// at what earlier ones left. Prefer it to brc unless the proof must be that of a paper.
package additive
