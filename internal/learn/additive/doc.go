// SPDX-License-Identifier: Apache-2.0

// Package additive fits a sum of step functions, one per column and one per declared pair of columns,
// to the log-odds of a label, or to the log-shares of its classes if there are more than two. The
// default learner, auto, trains it unless columns interact.
//
// Claims G-ADDITIVE-1 (label public), G-ADDITIVE-2 (label private, replace-one) and G-ADDITIVE-3
// (add-remove): the result of Fit is (ε, 0)-DP for the private columns of one row, for a whole row
// with its label, or for the presence of a row. G-ADDITIVE-4 is the same with a δ, G-ADDITIVE-5 is for
// more than two classes, and G-ADDITIVE-6 is for a private label with public columns. The argument is
// in evidence/guarantees/additive.md; the lines that it depends on have the tags 1.1 to 1.9 and 2.1.
//
//	params.go      check public choices, plan a fit by rules.go, bins.go and bill.go, and describe it
//	ask.go         every release: what leaves, and by how much it moves between neighbours
//	fit.go         charge, then run the algorithm of two classes or of more
//	public.go      fit the public columns to a public label, for free, as a start
//	labels.go      beside a private label, release the positive rows of public columns and fit those
//	binary.go      two classes: per round, pick a column where ε is scarce, and release its weighted
//	               cells by bin and class; then the same for each declared pair, where ε allows
//	multiclass.go  more classes: per round, release the rows of a column by bin and class; then how
//	               much each column counts
//	calibrate.go   two classes: rounds by the rarer class, the finished score stretched to what its
//	               own cells say, and what noise alone did to scores
//
// Package shrink converts releases to log-odds and shares, at no cost.
//
// With two classes a row has the weight min(1, exp(-margin)), where the margin is that of the current
// score (the weights of MadaBoost, Domingo and Watanabe 2000). The weight is at most 1 for any
// releases, and the estimate of the log-odds is consistent. With more classes a row counts once in
// each column. A row therefore changes a release by at most 1 if it is added, and 2 if it is replaced.
//
// There is nothing to tune: rules.go computes the number of rounds, the bins and the shares of ε from ε, the schema
// and the number of rows. Its rules were chosen once on public data (evidence/decisions/0014-default.md).
//
// Time: one pass over the rows, O(n·columns), or one for each round if ε allows rounds to use the
// residuals of earlier ones. Prefer it to brc unless the proof must be that of a paper.
package additive
