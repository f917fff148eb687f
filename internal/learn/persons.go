// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CheckOneRow refuses, for a learner that takes one row of each person (DrawRows), a schema by
// which more of them count; PlanGroup plans for those. Every private learner calls it or bounds
// weights.
func CheckOneRow(op string, s *schema.Schema) error {
	if s.Person == nil || s.Person.Rows == 1 {
		return nil
	}
	got := strconv.Itoa(s.Person.Rows)
	if s.Person.Rows == 0 {
		got = "auto"
	}
	return &dp.ParamError{Op: op, Param: "person rows", Want: "must be 1, since this learner draws one row of each person",
		Got: got, Hint: "learner additive bounds the weight of a person's rows instead"}
}

// DrawRows is tab where a row is a unit of its own. Where the schema declares persons it is one row
// of each, drawn by fresh randomness (1.3): what protects a row of that table protects all rows of
// a person in tab (docs/guarantees/persons.md, G-PERSONS-2).
func DrawRows(tab engine.Table, exit *mech.Exit) engine.Table {
	p := tab.Persons()
	if p == nil {
		return tab
	}
	return p.Draw(1, false, func(n uint64) uint64 { return rng.Below(exit.Public(), n) })
}

// AllRows is tab with every row counting once, for a learner that protects nobody.
func AllRows(tab engine.Table) engine.Table {
	if p := tab.Persons(); p != nil {
		return p.Ignore()
	}
	return tab
}

// PublicUnits is the number of rows, or of persons where the schema declares those, as far as it
// is public: 0 under add-remove.
func PublicUnits(tab engine.Table) int {
	switch p := tab.Persons(); {
	case tab.Schema().Relation != dp.ReplaceOne:
		return 0
	case p != nil:
		return p.Count()
	}
	return tab.Rows()
}

// UnitFact says whose data a plan protects together, in words that somebody with several rows
// should read before anything is paid.
func UnitFact(s *schema.Schema, notPrivate bool) Fact {
	f := Fact{Key: "unit", Value: "row"}
	switch {
	case notPrivate:
	case s.Person == nil:
		f.Text = "protects one row: somebody with k rows has k times this epsilon (person: in the schema protects " +
			"all rows of one person)"
	default:
		f.Value = "person"
		f.Text = fmt.Sprintf("protects all rows of one person together, told apart by column %q", s.Person.Column)
	}
	return f
}

// RowUnits is how many units a whole row counts for in the counts of Groups and ClassCells of a
// table: 1, or engine.WeightOne where its schema declares persons, by whom rows are weighed.
func RowUnits(tab engine.Table) int64 {
	if tab.Schema().Person == nil {
		return 1
	}
	return engine.WeightOne
}
