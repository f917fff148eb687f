// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Where rows are at most 35 noise scales of cells, the classes take the whole price, and three
// tenths of it from there on: by hand, the rule .05 + (70/x)² is below that only from x = 70/√.25 =
// 140 on, in scales of a count that a replaced row moves by 1.
func TestSharesTakeTheWholePrice(t *testing.T) {
	for _, c := range []struct {
		rows  int
		alone bool
	}{{70, true}, {71, false}, {140, false}} { // at ε = 1, half a row is a scale of cells
		set := settings()["shares alone"]
		set.reckons = c.rows
		_, plan := with(set, 40)
		anyPlan, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		pl := anyPlan.(*Plan)
		said := false
		for _, f := range pl.Facts() {
			said = said || strings.HasPrefix(f.Text, "no rounds: the shares of the classes take the whole price")
		}
		if (len(pl.bill) == 1) != c.alone || said != c.alone || c.alone && pl.bill[0].Epsilon != dp.Nano {
			t.Errorf("%d rows: %v on the bill, said in the plan: %v", c.rows, pl.bill, said)
		}
		if got, want := pl.prices.classes.Epsilon, dp.Epsilon(3e8); !c.alone && (got < want-10 || got > want+10) {
			t.Errorf("%d rows: the classes cost %s", c.rows, got)
		}
	}
}

// Every row is then answered with the shares that were released, whatever its cells.
func TestSharesAloneAnswerAllRowsAlike(t *testing.T) {
	for _, of := range []struct {
		set     setting
		classes int
	}{{settings()["shares alone"], 2}, {settings()["shares alone, pairs"], 2}, {multiclassSettings()["shares alone"], 3}} {
		make := with
		if of.classes > 2 {
			make = withClasses
		}
		tab, plan := make(of.set, 300)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		m := learntest.Fit(t, pl, tab, nil, 1)
		scores, err := m.Scores(tab.Cols, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		width := len(scores) / tab.Rows
		for i := width; i < len(scores); i++ {
			if math.Abs(scores[i]-scores[i-width]) > 1e-12 {
				t.Fatalf("%d classes: row %d is answered with %g, the one before with %g",
					of.classes, i/width, scores[i], scores[i-width])
			}
		}
	}
}
