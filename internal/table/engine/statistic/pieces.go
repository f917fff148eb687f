// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// mostPieces is how many pieces grids share at most, so that the sums of all stay in a
// processor's cache. One grid alone may have more.
const mostPieces = 1 << 12

// cutColumn is a column in parts: codes that no axis of any grid tells apart are one part.
type cutColumn struct {
	codes *column.Codes
	part  []uint32        // of each code
	parts int             // 0 if no grid has the column
	axes  []*feature.Bins // of the grids, each once
	bins  [][]uint32      // of each axis, the bin of each part
}

// cuts is the columns of a table, cut wherever any of some grids cuts them.
type cuts struct {
	columns []cutColumn
	of      [][]int // by grid, which of its column's axes each of its own is
}

// newCuts cuts the columns. Time grows with the codes of a column times the axes that cut
// it in different ways.
func newCuts(cols []column.Column, grids []feature.Grid) *cuts {
	out := &cuts{columns: make([]cutColumn, len(cols)), of: make([][]int, len(grids))}
	for g := range grids {
		for k := range grids[g].Axes {
			axis := &grids[g].Axes[k]
			c := &out.columns[axis.Column]
			at := slices.IndexFunc(c.axes, axis.SameCuts)
			if at < 0 {
				at, c.axes = len(c.axes), append(c.axes, axis)
			}
			out.of[g] = append(out.of[g], at)
		}
	}
	for i := range out.columns {
		out.columns[i].split(&cols[i])
	}
	return out
}

// split finds the parts of the column from its axes.
func (c *cutColumn) split(col *column.Column) {
	c.codes = &col.Codes
	for k, axis := range c.axes {
		bin := axis.ByCode(col)
		if k == 0 {
			c.part, c.parts = make([]uint32, len(bin)), 1
		}
		c.parts = splitParts(c.part, c.parts, bin, axis.Len())
	}
	for _, axis := range c.axes {
		bins := make([]uint32, c.parts)
		for code, bin := range axis.ByCode(col) {
			bins[c.part[code]] = bin
		}
		c.bins = append(c.bins, bins)
	}
}

// splitParts splits parts where what lies in them has different bins. Parts without
// anything in them are left out; it returns how many there are then, at least 1.
func splitParts(part []uint32, parts int, bin []uint32, bins int) int {
	ids := make([]uint32, parts*bins) // 0 for none yet
	n := uint32(0)
	for i, p := range part {
		id := &ids[int(p)*bins+int(bin[i])]
		if *id == 0 {
			n++
			*id = n
		}
		part[i] = *id - 1
	}
	return max(1, int(n))
}

// bundle is some grids. Together they cut rows into pieces, each of which lies in one cell of
// every grid: sums over pieces add up to those of cells.
type bundle struct {
	columns []int
	piece   [][]uint32 // by column, then by its part
	pieces  []int      // by column
	grids   []int
}

// bundle finds grids that share pieces: over the same columns, or one after the other.
func (c *cuts) bundle(grids []feature.Grid) (out []*bundle) {
	byColumns := map[string]*bundle{}
	var last *bundle
	for g := range grids {
		var columns []int
		for k := range grids[g].Axes {
			columns = append(columns, grids[g].Axes[k].Column)
		}
		slices.Sort(columns)
		name := fmt.Sprint(columns)
		if b := byColumns[name]; b != nil && b.add(c, g, &grids[g]) {
			continue
		}
		if last == nil || !last.add(c, g, &grids[g]) {
			last = &bundle{}
			last.add(c, g, &grids[g])
			out = append(out, last)
		}
		byColumns[name] = last
	}
	return out
}

// add adds grid g, but not one that makes too many pieces of a bundle that has others.
func (b *bundle) add(c *cuts, g int, grid *feature.Grid) bool {
	columns, piece, pieces, all := slices.Clone(b.columns), slices.Clone(b.piece), slices.Clone(b.pieces), 1
	for k := range grid.Axes {
		axis := &grid.Axes[k]
		at := slices.Index(columns, axis.Column)
		if at < 0 {
			at = len(columns)
			columns, pieces = append(columns, axis.Column), append(pieces, 1)
			piece = append(piece, make([]uint32, c.columns[axis.Column].parts))
		}
		piece[at] = slices.Clone(piece[at])
		pieces[at] = splitParts(piece[at], pieces[at], c.columns[axis.Column].bins[c.of[g][k]], axis.Len())
	}
	for _, n := range pieces {
		all *= n
	}
	if len(b.grids) > 0 && all > mostPieces {
		return false
	}
	b.columns, b.piece, b.pieces, b.grids = columns, piece, pieces, append(b.grids, g)
	return true
}

// size is the number of pieces.
func (b *bundle) size() int {
	n := 1
	for _, pieces := range b.pieces {
		n *= pieces
	}
	return n
}

// steps is what each part of each column adds to the number of a piece.
func (b *bundle) steps() [][]uint32 {
	out, every := make([][]uint32, len(b.columns)), uint32(1)
	for k, piece := range b.piece {
		for _, p := range piece {
			out[k] = append(out[k], p*every)
		}
		every *= uint32(b.pieces[k])
	}
	return out
}

// cellsOf is, for each piece, the cell of grid g, one of the bundle's, in which it lies.
func (b *bundle) cellsOf(c *cuts, g int, grid *feature.Grid) []uint32 {
	adds, every := make([][]uint32, len(b.columns)), uint32(1) // by column, then by its piece
	for at, pieces := range b.pieces {
		adds[at] = make([]uint32, pieces)
	}
	for k := range grid.Axes {
		axis := &grid.Axes[k]
		at := slices.Index(b.columns, axis.Column)
		for part, bin := range c.columns[axis.Column].bins[c.of[g][k]] {
			adds[at][b.piece[at][part]] = bin * every
		}
		every *= uint32(axis.Len())
	}
	out := []uint32{0}
	for _, along := range adds {
		longer := make([]uint32, 0, len(out)*len(along))
		for _, add := range along {
			for _, cell := range out {
				longer = append(longer, cell+add)
			}
		}
		out = longer
	}
	return out
}
