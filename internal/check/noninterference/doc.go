// SPDX-License-Identifier: Apache-2.0

// Package noninterference searches for effects of a private row: on the number, order, kind and size
// of released numbers, on the model file, on messages, and on errors. Its pairs of neighbouring tables
// are texts, each read with its own dictionaries. They cover edge cases: empty cells, cells of one
// row, one class, ties, cells outside their bounds, missing and undeclared cells, separable rows, a
// single row, a person with many rows, and more rows than any threshold in the code. One generator draws
// the relation, the roles, persons, and two tables: neighbours, or strangers, in which all that is
// protected is another. Every learner of the command is tried with every choice of its options, so that
// new learners and modes are included without a change here; private evaluations, and trainings and
// evaluations across sites, are tried beside them. The package contains only
// tests. Package internal/check/testkit/clothes searches neighbours in every form of a table, typed or not.
package noninterference
