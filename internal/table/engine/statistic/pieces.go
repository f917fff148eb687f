// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// mostPieces is the largest number of pieces that grids share, so that all sums stay in a processor's
// cache. A single grid may have more.
const mostPieces = 1 << 12

// cutColumn is a column divided into parts: codes that no axis of any grid distinguishes are in one
// part.
type cutColumn struct {
	codes *column.Codes
	part  []uint32        // of each code
	parts int             // 0 if no grid has the column
	axes  []*feature.Bins // of the grids, without repetition
	bins  [][]uint32      // for each axis, the bin of each part
}

// cuts holds the columns of a table, divided wherever some grid divides them.
type cuts struct {
	columns []cutColumn
	of      [][]int // by grid, the index among its column's axes of each of its own
}

// newCuts divides the columns. Time grows with the number of codes of a column times the number of
// different axes.
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

// splitParts splits parts whose codes have different bins. It drops empty parts and returns the number
// of parts, at least 1.
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

// bundle is a set of grids. Together they divide rows into pieces, each of which is in one cell of
// every grid: sums over pieces add up to those of cells.
type bundle struct {
	columns []int
	piece   [][]uint32 // by column, then by its part
	pieces  []int      // by column
	grids   []int
}

// bundle groups grids that share pieces: those with the same columns, or consecutive ones.
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

// add adds grid g, unless it would make too many pieces in a bundle with other grids.
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

// size returns the number of pieces.
func (b *bundle) size() int {
	n := 1
	for _, pieces := range b.pieces {
		n *= pieces
	}
	return n
}

// steps returns the term of each part of each column in the number of a piece.
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

// cellsOf returns, for each piece, its cell in grid g of the bundle.
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
