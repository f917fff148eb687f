// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/audit"
	"github.com/discreet-dp/discreet/lab/internal/census"
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

// The tables of an audit are possible ones: derived cells follow from the others, and neighbours differ
// in one row, in no public column if these are not protected.
func TestNeighboursHaveTheirDerivedCells(t *testing.T) {
	s := derivedSchema(t)
	for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures} {
		for _, n := range audit.AllNeighbours(s, 5, scope, replay.Seeded(2, "neighbours")) {
			follows(t, n.Name, n.Tables[0])
			follows(t, n.Name, n.Tables[1])
			if rows, public := apart(s, n.Tables[0], n.Tables[1]); len(rows) > 1 || len(rows) == 1 && !rows[0] ||
				public && scope == dp.PrivateFeatures {
				t.Errorf("%s, %s: rows %v differ, public cells: %v", scope, n.Name, rows, public)
			}
		}
	}
}

// The worlds of an attack are possible tables, too, and a coin changes one row.
func TestWorldsHaveTheirDerivedCells(t *testing.T) {
	s := derivedSchema(t)
	random := rand.New(rand.NewPCG(3, 4))
	tab := &dataset.Table{Schema: s, Rows: 40, Cols: make([]column.Column, len(s.Columns)), Labels: make([]uint8, 40)}
	for j, c := range s.FileColumns() {
		codes := make([]uint32, tab.Rows)
		for i := range codes {
			codes[i] = uint32(random.IntN(4))
		}
		tab.Cols[j] = column.Column{Codes: column.Narrow(codes, 4),
			Values: []float64{c.Lower, c.Lower + .25, c.Upper - .5, c.Upper}}
	}
	tab.Derive()
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures} {
			asked := *s
			asked.Relation = relation
			tab.Schema = &asked
			const n = 6
			w := newWorlds(tab, scope, n, replay.Seeded(1, "worlds"))
			follows(t, "own", w.versions[0])
			follows(t, "other", w.versions[1])
			coins := make([]sighting, 2*n)
			a := w.tableOf(coins)
			coins[n+1].member = true
			b := w.tableOf(coins)
			follows(t, "one world", a)
			follows(t, "the other world", b)
			if relation == dp.AddRemove {
				continue
			}
			if rows, public := apart(s, a, b); len(rows) != 1 || !rows[w.targets[n+1]] || public && scope == dp.PrivateFeatures {
				t.Errorf("%s: rows %v differ, public cells: %v", scope, rows, public)
			}
		}
	}
}

// In an attack a coin moves all rows of a person, and no one else's.
func TestWorldsMoveWholePersons(t *testing.T) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures, dp.LabelOnly} {
			tab := learntest.WithPersons(census.Generate(3, 150), replay.Seeded(1, "persons"), 1)
			s := *tab.Schema
			s.Relation, tab.Schema = relation, &s
			const n = 5
			w := newWorlds(tab, scope, n, replay.Seeded(1, "worlds"))
			seen := map[uint32]bool{}
			for _, row := range w.targets {
				seen[tab.Persons[row]] = true
			}
			if len(seen) != 2*n || seen[dataset.Nobody] {
				t.Fatalf("%d persons are targets, want %d", len(seen), 2*n)
			}
			several := 0
			for k := range w.targets {
				coins := make([]sighting, 2*n)
				a := w.tableOf(coins)
				coins[k].member = true
				b := w.tableOf(coins)
				person := tab.Persons[w.targets[k]]
				rows, _ := tab.CountPersons()
				if relation == dp.AddRemove {
					if b.Rows-a.Rows != int(rows[person]) || slices.Contains(a.Persons, person) {
						t.Errorf("%s: %d rows join, the person has %d", scope, b.Rows-a.Rows, rows[person])
					}
					continue
				}
				moved := 0
				for i := range tab.Rows {
					differs := a.Labels[i] != b.Labels[i]
					for j := range tab.Cols {
						if tab.Schema.Columns[j].Role != schema.Ignored {
							differs = differs || a.Cols[j].Codes.At(i) != b.Cols[j].Codes.At(i)
						}
					}
					if differs && tab.Persons[i] != person {
						t.Fatalf("%s: a row of another person moved", scope)
					}
					if differs {
						moved++
					}
				}
				if moved > 1 {
					several++
				}
			}
			if relation == dp.ReplaceOne && several == 0 {
				t.Errorf("%s: of nobody several rows moved", scope)
			}
		}
	}
}

// The rows of persons are attacked together, and a learner without privacy is seen through.
func TestMembershipOfPersons(t *testing.T) {
	tab := learntest.WithPersons(census.Generate(5, 100), replay.Seeded(1, "persons"), 1)
	p := additive.Params{NotPrivate: true}
	pl, err := p.Plan(tab.Schema, tab.PublicUnits())
	if err != nil {
		t.Fatal(err)
	}
	r, err := AttackMembership(context.Background(), pl, tab,
		Membership{Epsilon: dp.Nano, Targets: 3, Runs: 60, Source: replays(t.Name())})
	if err != nil {
		t.Fatal(err)
	}
	if r.Unit != "all rows of a person" || r.Kinds[1].Name != "persons made to stand out" ||
		r.Kinds[1].Ratio.AUC.Low < 0.6 {
		t.Errorf("%+v", r.Kinds[1])
	}
}
