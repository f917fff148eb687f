// SPDX-License-Identifier: Apache-2.0

// Package mistakes measures which of a list of classifiers are wrong about the rows of a guard's
// table: the noisy weighted error of one, one of several by its weighted edge, and the share of the
// positive class. Which rows a classifier is wrong about, and what rows weigh, never leaves.
//
// The weight of a row starts at 1 and steps by public factors, within a public range, when a
// classifier is wrong about it. So it is a function of the row's own cells and of what its learner
// has been given, and the sensitivity of an error follows from the set of weights that rows can have
// (evidence/guarantees/brc.md, lemmas 1 to 4; the lines that those lean on carry the tags 1.2 to 1.9).
//
// Source: Shen, Krishnaswamy, Kulkarni, Munagala, "Classification with Partially Private Features"
// (arXiv 2312.07583), Algorithms 2 and 3.
package mistakes
