// SPDX-License-Identifier: Apache-2.0

// Package shrink computes estimates from released noisy sums: posterior means, which shrink each
// estimate according to its noise, the projection onto the simplex, and isotonic regression. All of
// this is post-processing and costs nothing.
//
//	logodds.go      log-odds per bin from noisy sums of two classes, by the law of the noise
//	shares.go       shares of any number of classes in all rows, and by bin
//	line.go         slope and shift of a score from its own cells, and what noise alone did to steps
//	labelsums.go    steps of public columns from what a private label left; labelvectors.go what leaves
//	project.go      the closest numbers that add up, or that never fall
//	dense.go        products and factors of matrices
package shrink
