// SPDX-License-Identifier: Apache-2.0

// Package dataset reads tables into columns of small integer codes.
//
// Structural faults (a ragged row, an undecodable byte, a public cell that does not parse and has no
// default) are refused by file, column and line, never by value. Any other faulty cell is repaired as
// the schema declares, without a message: it is never dropped and never quoted. Plans must ensure that
// every protected cell can be repaired (Schema.CheckDefaults).
//
// Claims in a file are not trusted: every length, count and expansion has a limit, and memory is never
// allocated because of a claim alone.
package dataset
