// SPDX-License-Identifier: Apache-2.0

// Package grids fits a sum of tables over a few columns at a time, chosen one
// after another: for labels that depend on columns together, which no sum of
// functions of one column can follow.
//
// Claim G-GRIDS-1: what Fit returns is (ε, 0)-DP, or (ε, δ)-DP with a δ, in whole
// rows with their labels, under the schema's relation. Argument:
// evidence/guarantees/grids.md; the lines it leans on carry the tags 1.1 to 1.6.
//
// What it does, in order:
//
//	fit.go    release how many rows have each class (Laplace or
//	          Gaussian); then, in each round,
//	          differentiate the likelihood of every row's label in its scores, and
//	          shorten slopes that are too long;
//	draw.go   draw a few grids at random, without looking at a row: some columns,
//	          and where to cut each;
//	fit.go    choose the grid over whose cells slopes are furthest from balance
//	          (permute-and-flip), and let its slopes and curves by cell out;
//	steps.go  step as far in each cell as noise and curve allow, free
//	exact.go  if nothing is private: choose by what a step gains, and leave out
//	          what is chance in the labels
//
// A row lies in one cell of a grid, however many columns it is of, so a release
// costs the same for one column as for six. Its slopes are at most 1 long
// whatever was released before.
//
// There is nothing to tune: rules.go derives the number of rounds, grids to choose
// from, cells and steps from ε, δ, the schema and the number of rows.
//
// Time: one pass over the rows for each grid drawn, but those of a round over the same
// columns share one. Prefer additive where columns
// speak for themselves: it is the more exact, and its functions can be drawn.
package grids
