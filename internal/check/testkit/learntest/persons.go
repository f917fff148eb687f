// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// WithPersons returns tab with its rows assigned to persons: half of the persons have one row and the
// others up to eight. The contribution bound is most rows.
func WithPersons(tab *dataset.Table, src rng.Source, most int) *dataset.Table {
	out := *tab
	s := *tab.Schema
	s.Person = &schema.Person{Column: "pid", Rows: most}
	out.Schema, out.Persons = &s, make([]uint32, tab.Rows)
	person, left := uint32(0), uint64(0)
	for i := range out.Persons {
		if left == 0 {
			person, left = person+1, 1
			if rng.Below(src, 2) == 0 {
				left = 2 + rng.Below(src, 7)
			}
		}
		out.Persons[i] = person
		left--
	}
	return &out
}

// PersonNeighbours returns two copies of tab that differ in the protected part of all rows of one
// person. Under add-remove the rows exist in only one of them. Under replace-one their cells differ
// and, if whole rows are protected, also their number. With probability one half, all rows of the
// person are equal in each copy, which changes sums most.
func PersonNeighbours(tab *dataset.Table, src rng.Source, scope dp.Scope) (a, b *dataset.Table) {
	count := uint64(0)
	for _, p := range tab.Persons {
		count = max(count, uint64(p))
	}
	person := uint32(1 + rng.Below(src, count))
	var own, others []int
	for i, p := range tab.Persons {
		if p == person {
			own = append(own, i)
		} else {
			others = append(others, i)
		}
	}
	alike := rng.Below(src, 2) == 0
	make := func() *dataset.Table {
		rows := append([]int(nil), own...)
		if scope == dp.WholeRow && tab.Schema.Relation == dp.ReplaceOne {
			rows = rows[:1]
			for range rng.Below(src, 8) {
				rows = append(rows, own[0])
			}
		}
		out := tab.Subset(append(append([]int(nil), others...), rows...))
		for i := range rows {
			at := len(others) + i
			if alike && i > 0 {
				copyProtected(out, at, len(others), scope)
			} else {
				redraw(out, at, src, scope)
			}
		}
		out.Derive()
		return out
	}
	if tab.Schema.Relation == dp.AddRemove {
		return make(), tab.Subset(others)
	}
	return make(), make()
}

// copyProtected copies the protected part of a row.
func copyProtected(tab *dataset.Table, to, from int, scope dp.Scope) {
	for j := range tab.Cols {
		if isProtected(&tab.Schema.Columns[j], scope) {
			setCode(&tab.Cols[j].Codes, to, tab.Cols[j].Codes.At(from))
		}
	}
	if scope != dp.PrivateFeatures {
		tab.Labels[to] = tab.Labels[from]
	}
}
