// SPDX-License-Identifier: Apache-2.0

// Package grids fits a sum of tables over a few columns at a time, chosen one after another: for labels that depend
// on interactions of columns, which a sum of functions of single columns cannot represent.
//
// Claim G-GRIDS-1: the result of Fit is (ε, 0)-DP, or (ε, δ)-DP with a δ, for whole rows with their
// labels, under the schema's relation. The argument is in evidence/guarantees/grids.md; the lines that
// it depends on have the tags 1.1 to 1.7.
//
// What it does, in order:
//
//	fit.go    release how many rows have each class (Laplace or Gaussian); then, in each round, differentiate the
//	          likelihood of every row's label in its scores, and shorten slopes that are too long
//	draw.go   draw a few grids at random, without looking at a row: some columns, and where to cut each
//	fit.go    choose the grid over whose cells slopes are furthest from balance (permute-and-flip), and let its
//	          slopes and curves by cell out
//	rules.go  step as far in each cell as noise and curve allow, free; if nothing is private, choose by what a step
//	          gains, and leave out what is chance
//
// A row is in one cell of a grid with any number of columns, so that a release costs the same for one
// column as for six. A row's slopes have at most length 1 for any earlier releases.
//
// There is nothing to tune: rules.go derives the number of rounds, grids to choose from, cells and
// steps from ε, δ, the schema and the number of rows.
//
// Time: one pass over the rows for each grid drawn; grids of one round with the same columns share a pass. Prefer
// additive if columns do not interact: it is more accurate, and its functions can be drawn.
package grids
