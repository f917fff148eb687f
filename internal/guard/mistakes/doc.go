// SPDX-License-Identifier: Apache-2.0

// Package mistakes measures the errors of a list of classifiers on the rows of a guard's table. It
// releases the noisy weighted error of one classifier, a choice among several by their weighted edges,
// and the share of the positive class. It never releases which rows a classifier is wrong about, or
// the weights of rows.
//
// The weight of a row starts at 1 and is multiplied by a public factor, within a public range, when a
// classifier is wrong about the row. It is therefore a function of the row's own cells and of earlier
// releases, and the sensitivity of an error follows from the set of possible weights
// (evidence/guarantees/brc.md, lemmas 1 to 4; the lines that these depend on have the tags 1.2 to
// 1.9).
//
// Source: Shen, Krishnaswamy, Kulkarni, Munagala, "Classification with Partially Private Features"
// (arXiv 2312.07583), Algorithms 2 and 3.
package mistakes
