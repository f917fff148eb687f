// SPDX-License-Identifier: Apache-2.0

// Package mech is noise and its price: the one layer through which private
// numbers leave.
//
// A mechanism is a value that knows what it costs (Loss) and how to draw. It
// reaches data only through an Exit, the one door: Exit.Release for numbers,
// Exit.Select for a choice, Exit.Perturb and Exit.PerturbCell for what an owner
// reports at home by one of the laws of privacy/response, Exit.Addend and
// Exit.CellAddend for what it adds to a secret sum. A test can put a recorder or
// a script in the door (mechtest) and so check non-interference and declared
// sensitivities exactly.
//
// All values are exact rationals, all noise is drawn in integers on a public
// power-of-two grid. Proofs: evidence/guarantees/mech.md, local.md and secsum.md.
package mech
