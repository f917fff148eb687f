// SPDX-License-Identifier: Apache-2.0

// Package shrink computes estimates from released noisy sums: posterior means, which shrink each
// estimate according to its noise, the projection onto the simplex, and isotonic regression. All of
// this is post-processing and costs nothing.
//
//	logodds.go     log-odds per bin from noisy sums of two classes, by the law of the noise
//	gaussian.go    the same where noise is taken for normal: one posterior for each prior
//	pair.go        its prior for the bins of a pair of columns
//	shares.go      shares of any number of classes per bin, as logarithms
//	deviations.go  by how much a class deviates from the mean of all classes, per bin
//	average.go     the average of posteriors over a grid of priors, by their evidence
//	simplex.go     the closest numbers that are not negative and have a known sum
//	isotonic.go    the closest numbers that never fall
package shrink
