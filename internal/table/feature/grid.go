// SPDX-License-Identifier: Apache-2.0

package feature

import "github.com/discreet-dp/discreet/internal/table/column"

// MaxCells bounds the cells of a grid.
const MaxCells = 1 << 16

// Grid divides rows into cells by several columns at once. A cell is a combination of one bin of each
// axis. The axes have different columns and are not pairs. A grid has at least one axis and at most
// MaxCells cells.
type Grid struct{ Axes []Bins }

// Cells returns the number of cells. In cell numbers, the bin of the first axis varies fastest.
func (g *Grid) Cells() int {
	n := 1
	for k := range g.Axes {
		n *= g.Axes[k].Len()
	}
	return n
}

// CellOf returns the cell of one row of coded cells, parallel to the schema's Columns.
func (g *Grid) CellOf(row []column.Cell) int {
	cell, every := 0, 1
	for k := range g.Axes {
		cell += g.Axes[k].OfRow(row) * every
		every *= g.Axes[k].Len()
	}
	return cell
}

// BoundGrid finds the cells of the rows of one table. It is read-only.
type BoundGrid struct{ axes []boundAxis }

type boundAxis struct {
	codes *column.Codes
	adds  []uint32 // by code, the term of the cell's number
}

// Bind tabulates the grid for cols, which is parallel to the schema's Columns.
func (g *Grid) Bind(cols []column.Column) *BoundGrid {
	b := &BoundGrid{}
	every := uint32(1)
	for k := range g.Axes {
		axis := &g.Axes[k]
		adds := axis.ByCode(&cols[axis.Column])
		for code := range adds {
			adds[code] *= every
		}
		every *= uint32(axis.Len())
		b.axes = append(b.axes, boundAxis{&cols[axis.Column].Codes, adds})
	}
	return b
}

// Read writes the cells of rows from, from+1, ... to out. scratch must have the same length.
func (b *BoundGrid) Read(from int, out, scratch []uint32) {
	scratch = scratch[:len(out)]
	for k, axis := range b.axes {
		if k == 0 {
			axis.codes.Look(from, axis.adds, out)
			continue
		}
		axis.codes.Look(from, axis.adds, scratch)
		for i, add := range scratch {
			out[i] += add
		}
	}
}
