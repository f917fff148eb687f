// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// worlds makes the tables that a membership attack trains on: one for every outcome of the targets'
// coins.
type worlds struct {
	base     *dataset.Table
	scope    dp.Scope
	leaveOut bool              // under add-remove a target is left out, not replaced
	targets  []int             // rows of base: unchanged ones first, then those made to stand out
	others   [][]int           // the other rows of each target's person, if the schema declares persons
	versions [2]*dataset.Table // the targets with their own part (in world 1), and with the other
}

// newWorlds draws n targets of each kind, of different persons if the schema declares them.
// Unprotected parts are equal in both worlds.
func newWorlds(tab *dataset.Table, scope dp.Scope, n int, src rng.Source) *worlds {
	units := listUnits(tab)
	rng.Shuffle(src, len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	rows := make([]int, len(units))
	for i := range rows {
		rows[i] = units[i][0]
	}
	all := make([]int, tab.Rows)
	for i := range all {
		all[i] = i
	}
	w := &worlds{base: tab.Subset(all), leaveOut: tab.Schema.Relation == dp.AddRemove, scope: scope,
		targets: rows[:2*n]}
	for i := range w.targets {
		w.others = append(w.others, units[i][1:])
	}
	donors := rows[2*n : 3*n]
	own, other := tab.Subset(w.targets), tab.Subset(append(slices.Clone(donors), w.targets[n:]...))
	last := uint8(tab.Schema.Classes() - 1)
	for i := n; i < 2*n; i++ { // to stand out: a corner of the table of its own, against the opposite one
		for j := range tab.Cols {
			upper := src.Uint64()&1 == 1
			setCode(&own.Cols[j], i, endCode(tab, j, upper))
			setCode(&other.Cols[j], i, endCode(tab, j, !upper))
		}
		own.Labels[i], other.Labels[i] = 0, last
		if src.Uint64()&1 == 1 {
			own.Labels[i], other.Labels[i] = last, 0
		}
	}
	for i := range w.targets {
		for j := range tab.Cols {
			if !w.protects(j) {
				setCode(&other.Cols[j], i, codeAt(&own.Cols[j], i))
			}
		}
		switch {
		case scope == dp.PrivateFeatures:
			other.Labels[i] = own.Labels[i]
		case scope == dp.LabelOnly && i < n: // a donor of the same label would tell nothing apart
			other.Labels[i] = (own.Labels[i] + 1) % (last + 1)
		}
	}
	own.Derive()
	other.Derive()
	w.versions = [2]*dataset.Table{own, other}
	return w
}

// tableOf returns the table of one training.
func (w *worlds) tableOf(coins []sighting) *dataset.Table {
	keep := make([]int, 0, w.base.Rows)
	place := make([]int, w.base.Rows)
	out := map[int]bool{}
	for i, row := range w.targets {
		if w.leaveOut && !coins[i].member {
			out[row] = true
			for _, other := range w.others[i] {
				out[other] = true
			}
		}
	}
	for row := range w.base.Rows {
		place[row] = len(keep)
		if !out[row] {
			keep = append(keep, row)
		}
	}
	t := w.base.Subset(keep)
	for i, row := range w.targets {
		if out[row] {
			continue
		}
		version := w.versions[1]
		if coins[i].member {
			version = w.versions[0]
		}
		for j := range t.Cols {
			if t.Schema.Columns[j].Derived == schema.InFile {
				setCode(&t.Cols[j], place[row], codeAt(&version.Cols[j], i))
			}
		}
		t.Labels[place[row]] = version.Labels[i]
		if coins[i].member && i < len(w.targets)/2 {
			continue // other rows of a person as they are stay so
		}
		for _, other := range w.others[i] {
			w.copyProtected(t, place[other], version, i)
		}
	}
	t.Derive()
	return t
}

// protects reports whether the worlds may differ in column j.
func (w *worlds) protects(j int) bool {
	c := &w.base.Schema.Columns[j]
	return c.Role != schema.Ignored && w.scope != dp.LabelOnly && (c.Role != schema.Public || w.scope == dp.WholeRow)
}

// copyProtected copies the protected part of row i of from.
func (w *worlds) copyProtected(to *dataset.Table, row int, from *dataset.Table, i int) {
	for j := range to.Cols {
		if w.protects(j) && to.Schema.Columns[j].Derived == schema.InFile {
			setCode(&to.Cols[j], row, codeAt(&from.Cols[j], i))
		}
	}
	if w.scope != dp.PrivateFeatures {
		to.Labels[row] = from.Labels[i]
	}
}

// listUnits lists the rows of each unit of privacy: single rows, or the rows of each person. Rows
// without a person are left out.
func listUnits(tab *dataset.Table) (units [][]int) {
	if tab.Persons == nil {
		for i := range tab.Rows {
			units = append(units, []int{i})
		}
		return units
	}
	at := map[uint32]int{}
	for i, p := range tab.Persons {
		if p == dataset.Nobody {
			continue
		}
		k, ok := at[p]
		if !ok {
			k = len(units)
			at[p], units = k, append(units, nil)
		}
		units[k] = append(units[k], i)
	}
	return units
}

// endCode returns the code at one end of column j: of the numbers that occur, or of the declared
// levels.
func endCode(t *dataset.Table, j int, upper bool) uint32 {
	c := &t.Cols[j]
	if c.Values == nil {
		if n := len(t.Schema.Columns[j].Levels); upper && n > 0 {
			return uint32(n - 1)
		}
		return 0
	}
	best := 0
	for k, v := range c.Values {
		if upper && v > c.Values[best] || !upper && v < c.Values[best] {
			best = k
		}
	}
	return uint32(best)
}

func codeAt(c *column.Column, i int) uint32 {
	if c.Codes.Len() == 0 { // ignored
		return 0
	}
	return c.Codes.At(i)
}

// setCode changes a cell of a column whose codes are not shared.
func setCode(c *column.Column, i int, code uint32) {
	switch {
	case c.Codes.U8 != nil:
		c.Codes.U8[i] = uint8(code)
	case c.Codes.U16 != nil:
		c.Codes.U16[i] = uint16(code)
	case c.Codes.U32 != nil:
		c.Codes.U32[i] = code
	}
}
