// SPDX-License-Identifier: Apache-2.0

// Package noninterference searches for a private row that shows: in how often, in what
// order, of what kind and size numbers are released, in the model file, in messages, in
// errors. Its pairs of neighbouring tables are texts, each read with dictionaries of its
// own, and aim at edges: empty cells and cells of one row, one class, ties, cells beyond
// their bounds, missing and undeclared ones, separable rows, a single row, and more rows
// than any threshold of the code. Every learner of the command is tried with every
// choice that its options name, so a new learner or mode is searched without a change
// here. There are tests only.
package noninterference
