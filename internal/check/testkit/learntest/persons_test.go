// SPDX-License-Identifier: Apache-2.0

package learntest_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// personTable is a census of persons with several rows, of whom every learner takes one.
func personTable(rows int) *dataset.Table {
	return learntest.WithPersons(censustest.Table(9, rows), replay.Seeded(4, "persons"), 1)
}

// Every learner keeps its contract where the unit is a person.
func TestConformanceWithPersons(t *testing.T) {
	tab := personTable(150)
	for name, plan := range planners() {
		if name == "additive" { // in its own tests
			continue
		}
		t.Run(name, func(t *testing.T) {
			learntest.Run(t, learntest.Case{Table: tab,
				Plan: func() (learn.Plan, error) { return plan(tab.Schema, tab.PublicUnits()) }})
		})
	}
}

// All rows of one person change what they protect: where the same rows are drawn and the same
// leaves, the model is the same, and no release moves further than it declares.
func TestNonInterferenceOfPersons(t *testing.T) {
	tab := personTable(80)
	for name, plan := range planners() {
		t.Run(name, func(t *testing.T) {
			src := replay.Seeded(1, name)
			for k := range 10 {
				a, b := personNeighbours(tab, src, scopeOf(name))
				differs, worst, at := learntest.Interference(t,
					func() (learn.Plan, error) { return plan(tab.Schema, tab.PublicUnits()) }, a, b, uint64(k),
					answers(rng.Below(src, 1000)))
				if differs != "" {
					t.Fatalf("pair %d: %s differ", k, differs)
				}
				if worst > 1+1e-9 {
					t.Fatalf("pair %d: %s moved %.6f times its declared bound", k, at, worst)
				}
			}
		})
	}
}

// personNeighbours are neighbours with as many rows, so that the same coins draw the same ones.
func personNeighbours(tab *dataset.Table, src rng.Source, scope dp.Scope) (a, b *dataset.Table) {
	for {
		if a, b = learntest.PersonNeighbours(tab, src, scope); a.Rows == b.Rows {
			return a, b
		}
	}
}

// What counts rows of persons is noticed: the twin with the wrong unit.
func TestRowsOfPersonsAreNoticed(t *testing.T) {
	tab := personTable(80)
	noticed := 0
	for _, name := range []string{"brc", "labeldp"} {
		src := replay.Seeded(2, name)
		for k := range 20 {
			a, b := personNeighbours(tab, src, scopeOf(name))
			byRow := func(x *dataset.Table) *dataset.Table {
				out, s := *x, *x.Schema
				s.Person, out.Schema, out.Persons = nil, &s, nil
				return &out
			}
			rows := byRow(a)
			_, worst, _ := learntest.Interference(t,
				func() (learn.Plan, error) { return planners()[name](rows.Schema, rows.Rows) }, rows, byRow(b), uint64(k),
				answers(uint64(k)))
			if worst > 1+1e-9 {
				noticed++
				break
			}
		}
	}
	if noticed < 2 {
		t.Errorf("of 2 learners that count rows %d move further than they declare for one", noticed)
	}
}
