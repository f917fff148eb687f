// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// One row of each person is left, of whom no table knows any more.
func TestDrawRowsTakesOneOfEachPerson(t *testing.T) {
	tab := learntest.WithPersons(censustest.Table(3, 500), replay.Seeded(1, "persons"), 1)
	whole := learntest.Engine(t, tab)
	persons := whole.Persons().Count()
	g := open(t, whole, false)
	g.DrawRows()
	drawn, err := extend.Open(g).OneRow()
	if err != nil {
		t.Fatal(err)
	}
	if persons >= 500 || drawn.Rows() != persons || drawn.Persons() != nil || drawn.Schema().Person != nil {
		t.Errorf("of %d persons %d rows are drawn", persons, drawn.Rows())
	}
	if got := guard.PublicUnits(whole); got != persons {
		t.Errorf("%d units are public, want the number of persons, %d", got, persons)
	}
	all, err := open(t, whole, true).Table()
	if err != nil || all.Rows() != 500 || all.Persons() != nil {
		t.Errorf("%d rows, want all of them (%v)", all.Rows(), err)
	}
}

func open(t *testing.T, tab engine.Table, notPrivate bool) *guard.Guard {
	t.Helper()
	terms := guard.Terms{Op: "test", Scope: dp.WholeRow, NotPrivate: notPrivate}
	if !notPrivate {
		terms.Price = dp.Price{Epsilon: dp.Nano}
		terms.Bill = []dp.Event{guard.Share{Epsilon: dp.Nano}.Line("all")}
	}
	g, err := guard.Open(t.Context(), terms, tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(2, "draw")))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCheckOneRow(t *testing.T) {
	for rows, refused := range map[int]bool{1: false, 0: true, 2: true} {
		if err := learn.CheckOneRow("brc", &schema.Schema{Person: &schema.Person{Rows: rows}}); (err != nil) != refused {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
	if err := learn.CheckOneRow("brc", &schema.Schema{}); err != nil {
		t.Error(err)
	}
}
