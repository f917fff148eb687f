// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Table is a table in memory, one column.Column per feature of the schema and
// the label, all of one length. It is read-only once built.
type Table struct {
	Schema *schema.Schema
	Rows   int
	Cols   []column.Column // parallel to Schema.Columns; the zero Column for ignored ones
	Labels []uint8         // length Rows, codes of Schema.Label.Levels; nil for a table read without labels
}

// Subset returns a new Table with the given rows, in the given order. Number
// dictionaries are shared with t. Time and memory are linear in len(rows).
func (t *Table) Subset(rows []int) *Table {
	s := &Table{Schema: t.Schema, Rows: len(rows), Cols: make([]column.Column, len(t.Cols))}
	for j := range t.Cols {
		s.Cols[j] = column.Column{Values: t.Cols[j].Values, Codes: t.Cols[j].Codes.Pick(rows)}
	}
	if t.Labels != nil {
		s.Labels = make([]uint8, len(rows))
		for i, r := range rows {
			s.Labels[i] = t.Labels[r]
		}
	}
	return s
}
