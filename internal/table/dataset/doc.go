// SPDX-License-Identifier: Apache-2.0

// Package dataset reads tables into columns of small integer codes.
//
// Structural faults (a ragged row, an undecodable byte, a public cell that does
// not parse and has no default) are refused by file, column and line, never by
// value. Any other faulty cell is repaired per record, as the schema declares,
// silently: it is never dropped and never echoed. That every protected cell is such
// a cell is for plans to see to (schema.CheckDefaults).
//
// Nothing a file claims is believed before it is shown: every length, count and
// expansion has a cap, and no memory is made on the word of a file.
package dataset
