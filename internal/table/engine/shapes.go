// SPDX-License-Identifier: Apache-2.0

package engine

// ShapeSlopes is how the log-likelihood of the labels changes with the weights of shapes: Slopes
// its first derivatives, one for each shape; Curves its second ones, negated, row by row of the
// lower triangle, those beside the diagonal times √2. So the length of either is that of the
// vector, and of the matrix. In units of 1/WeightOne.
//
// What a row adds has at most its weight in length in Slopes, and at most a quarter of that in
// Curves, to the unit. Rounding may make the numbers longer by a factor of less than 1 + 2^-42, in
// Curves 1 + 2^-41, before they are cut off toward 0; the squared length of whole numbers is
// whole, and cannot pass the square of such a bound by as little.
type ShapeSlopes struct{ Slopes, Curves []int64 }

// MostShapes is how many shapes there may be, for the errors of rounding to be that small.
const MostShapes = 1 << 11
