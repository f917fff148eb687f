// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const derivedText = `
name: months
unit: one person
relation: replace-one
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: a, role: private, number: {lower: 0, upper: 10, default: 2}}
  - {name: b, role: public, number: {lower: -5, upper: 20, default: 3}}
  - {name: y, role: public, label: {levels: [u, v], positive: u}}
  - {name: c, role: public, number: {lower: 3, upper: 4, default: 3}}
derived:
  - {name: most, largest: [a, b]}
  - {name: least, smallest: [b, c]}
  - {name: usual, mean: [c, a]}
`

func derivedSchema(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(derivedText))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// follows fails where a derived cell is not that of the row's own cells.
func follows(t *testing.T, name string, tab *dataset.Table) {
	t.Helper()
	for i := range tab.Rows {
		var x [6]float64
		for j := range x {
			x[j] = value(tab, j, i)
		}
		if x[3] != max(x[0], x[1]) || x[4] != min(x[1], x[2]) || x[5] != (x[2]+x[0])/2 {
			t.Fatalf("%s: row %d is %v", name, i, x)
		}
	}
}

func value(t *dataset.Table, j, row int) float64 { return t.Cols[j].Values[t.Cols[j].Codes.At(row)] }

// apart lists the rows in which two tables of equal length differ, and whether
// a public column is among what differs.
func apart(s *schema.Schema, a, b *dataset.Table) (rows map[int]bool, public bool) {
	rows = map[int]bool{}
	for i := range a.Rows {
		for j := range a.Cols {
			if value(a, j, i) != value(b, j, i) {
				rows[i], public = true, public || s.Columns[j].Role == schema.Public
			}
		}
	}
	return rows, public
}

// The tables that are attacked are ones that there can be: derived cells follow
// from the others, and neighbours differ in one row, where public columns are
// not protected in none of them.
func TestNeighboursHaveTheirDerivedCells(t *testing.T) {
	s := derivedSchema(t)
	for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures} {
		for _, n := range AllNeighbours(s, 5, scope, replay.Seeded(2, "neighbours")) {
			follows(t, n.Name, n.Tables[0])
			follows(t, n.Name, n.Tables[1])
			if rows, public := apart(s, n.Tables[0], n.Tables[1]); len(rows) > 1 || len(rows) == 1 && !rows[0] ||
				public && scope == dp.PrivateFeatures {
				t.Errorf("%s, %s: rows %v differ, public cells: %v", scope, n.Name, rows, public)
			}
		}
	}
}
