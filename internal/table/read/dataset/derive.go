// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Derive computes the derived columns of t from their sources, in place. A cell is a function of cells
// in its own row. The time is linear in the number of rows times the number of sources.
func (t *Table) Derive() {
	for j := range t.Schema.Columns {
		if c := &t.Schema.Columns[j]; c.Derived != schema.InFile {
			t.Cols[j] = t.deriveColumn(c)
		}
	}
}

func (t *Table) deriveColumn(c *schema.Column) column.Column {
	out, since, row := &coder{Coder: coding.NewDerived(c)}, t.Schema.Columns[c.From[0]].Since, 0
	cell := func(j int) float64 { return t.Cols[j].Values[t.Cols[j].Codes.At(row)] }
	for ; row < t.Rows; row++ {
		out.keepCode(out.codeClamped(coding.Derive(c, since, cell)), coding.Read)
	}
	return out.takeColumn()
}
