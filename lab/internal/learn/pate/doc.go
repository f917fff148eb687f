// SPDX-License-Identifier: Apache-2.0

// Package pate trains teachers on disjoint parts of the rows. Their votes teach a
// public student the effect of the private columns: PATE for partially private tables.
//
// Claim G-PATE-1 (form repaired, partially private): with a public label and
// public columns, what Fit returns is (ε, 0)-DP in the private columns of one
// row, under replacement of those. Claim G-PATE-2 (form repaired, everything
// private): in a whole row with its label, under replacement. With Gaussian noise
// both are (ε, δ)-DP. Argument: evidence/guarantees/pate.md; the lines it leans on
// carry the tags 1.1 to 1.7.
//
// The repaired form, in order:
//
//	student.go  fit the public columns to a public label, for free
//	teachers.go deal the rows to teachers; each makes one linear classifier of
//	            what the student gets wrong, in at most one vote
//	fit.go      release the sum of the votes (noisy), then, for its own price,
//	            the weight of the released sum in the student's score
//
// No query is made of a row: teachers answer about features, not about records,
// and anyone who has the released sum can answer for new rows.
//
// The printed form (printed.go) asks every teacher about every training row. It
// is NOT private as claimed, makes models that say so, and exists to reproduce a
// figure; it has no claim.
//
// Time: one pass over the rows and O(distinct rows · columns). Prefer it if
// ε is small: a linear score with two releases in all.
//
// Source: Shen, Krishnaswamy, Kulkarni, Munagala, arXiv 2312.07583, section 7;
// Papernot and others, ICLR 2017 (the noisy vote). What is whose:
// evidence/guarantees/pate.md.
package pate
