// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Where rows are too few noise scales for a column, the classes take the whole price: by hand, the
// rule .05 + (70/x)² is at most .97 from x = 70/√.92 = 72.98 noise scales on, and a quarter of so
// many classes as there are times that for more than four.
func TestSharesTakeTheWholePrice(t *testing.T) {
	for _, c := range []struct {
		rows  int
		alone bool
	}{{145, true}, {146, false}} { // a row is half a noise scale at ε = 1
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
