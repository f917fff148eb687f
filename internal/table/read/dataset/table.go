// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Table is a table in memory: one column.Column per feature of the schema, and the label, all of the
// same length. It is read-only once built.
type Table struct {
	Schema *schema.Schema
	Rows   int
	Cols   []column.Column // parallel to Schema.Columns; the zero Column for ignored ones
	Labels []uint8         // length Rows, codes of Schema.Label.Levels; nil for a table read without labels
	// Persons holds the person of each row, as a number without further meaning, or Nobody for a row
	// without an identifier. It is nil if the schema declares no person, and in a table read for
	// prediction.
	Persons []uint32
	// Counts tells what became of the cells that were read: of each column, the label last. It is nil
	// unless Options.Count asked for it.
	Counts []coding.Counts
}

// Subset returns a new Table with the given rows, in the given order. Number
// dictionaries are shared with t. Time and memory are linear in len(rows).
func (t *Table) Subset(rows []int) *Table {
	s := &Table{Schema: t.Schema, Rows: len(rows), Cols: make([]column.Column, len(t.Cols))}
	for j := range t.Cols {
		s.Cols[j] = t.Cols[j].Pick(rows)
	}
	if t.Labels != nil {
		s.Labels = pickRows(t.Labels, rows)
	}
	if t.Persons != nil {
		s.Persons = pickRows(t.Persons, rows)
	}
	return s
}

func pickRows[T any](of []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = of[r]
	}
	return out
}
