// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"github.com/discreet-dp/discreet/internal/table/coding"
	"github.com/discreet-dp/discreet/internal/table/column"
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
	out := &coder{Coder: coding.NewDerived(c)}
	codes, cells := make([]uint32, batch), make([]float64, batch)
	for from := 0; from < t.Rows; from += batch {
		codes, cells := codes[:min(batch, t.Rows-from)], cells[:min(batch, t.Rows-from)]
		for k, j := range c.From {
			source := &t.Cols[j]
			source.Codes.Read(from, codes)
			foldSource(c.Derived, k == 0, cells, source.Values, codes)
		}
		for i, x := range cells {
			switch {
			case c.Derived == schema.Mean:
				x /= float64(len(c.From))
			case c.IsDatePart():
				x = schema.DatePart(c.Derived, t.Schema.Columns[c.From[0]].Since, x)
			}
			codes[i] = out.codeClamped(x)
		}
		out.out.Append(codes)
	}
	return out.takeColumn()
}

// foldSource adds the cells of one more source. Sums are in the order of the sources and contain no
// products, so that they are equal on every machine.
func foldSource(how schema.Derivation, first bool, cells, values []float64, codes []uint32) {
	switch {
	case first:
		for i, code := range codes {
			cells[i] = values[code]
		}
	case how == schema.Largest:
		for i, code := range codes {
			cells[i] = max(cells[i], values[code])
		}
	case how == schema.Smallest:
		for i, code := range codes {
			cells[i] = min(cells[i], values[code])
		}
	default:
		for i, code := range codes {
			cells[i] += values[code]
		}
	}
}
