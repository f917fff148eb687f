// SPDX-License-Identifier: Apache-2.0

// Package mech implements noise and its price. It is the only layer through which private numbers are
// released.
//
// A mechanism is a value that knows its price (Loss) and how to draw. It has access to data only
// through an Exit: Exit.Release for numbers, Exit.Select for a choice, Exit.Perturb and
// Exit.PerturbCell for an owner's report at home by one of the laws of privacy/response, and
// Exit.Addend and Exit.CellAddend for an owner's part of a secret sum. A test can put a recorder or a
// script into the exit (mechtest), and so check non-interference and declared sensitivities exactly.
//
// All values are exact rationals, and all noise is drawn in integers on a public power-of-two grid.
// Proofs: evidence/guarantees/mech.md, local.md and secsum.md.
package mech
