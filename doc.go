// SPDX-License-Identifier: Apache-2.0

// Package discreet trains classifiers with differential privacy.
//
// Some columns of a table are private: the guarantee hides them. A [Schema] says
// what is known about the table before anybody looks at it: columns, bounds,
// values, roles, the label. [Schema.Plan] says what a training will cost, before
// any data. [Train] charges an [Account], reads the rows, adds noise, and returns a
// [Model] that carries the statement of what it cost. Whatever is refused is
// refused before rows are read; errors name parameters and columns, never cells.
//
// Noise is fresh in every training and cannot be seeded. What trainings on the same
// table cost adds up; a [Ledger] counts it and refuses what would overspend.
//
// ε is a number of nats and δ a probability; both are float64 here and are counted
// in exact decimals (units of 1e-9 and 1e-15): 0.1 is one tenth.
//
// The guarantees and their proofs are under docs/guarantees of the source,
// https://github.com/discreet-dp/discreet.
package discreet
