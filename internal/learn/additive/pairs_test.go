// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Of four declared pairs, one of public columns: what is released, and for how
// much.
func TestPairsAreReleasedAtTheColumnsPrice(t *testing.T) {
	for name, want := range map[string]struct{ released, open, waiting int }{
		"partly private, pairs":     {3, 1, 0},
		"private label, pairs":      {4, 0, 0},
		"everything, pairs":         {4, 0, 0},
		"label alone, pairs":        {4, 0, 0},
		"add-remove, pairs in turn": {4, 0, 0},
		"gaussian, pairs":           {4, 0, 0},
		"pairs wait":                {0, 1, 3},
	} {
		_, plan := with(settings()[name], 60)
		anyPlan, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		pl := anyPlan.(*Plan)
		if pl.rules.pairs != want.released || len(pl.open) != want.open || pl.waiting != want.waiting {
			t.Errorf("%s: %d pairs are released, %d are free, %d wait; want %+v", name, pl.rules.pairs, len(pl.open),
				pl.waiting, want)
		}
		if want.released == 0 || pl.columns == 0 {
			continue
		}
		column, pair := 0.0, unitsOf(pl.prices.cells[len(pl.prices.cells)-1])
		for round := range pl.prices.cells {
			if pl.rules.columnOf(round) == 0 { // of each column in turn
				column += unitsOf(pl.prices.cells[round])
			}
		}
		if math.Abs(pair/column-1) > 1e-6 {
			t.Errorf("%s: a pair costs %g, a column %g, want as much", name, pair, column)
		}
	}
}

func unitsOf(p guard.Share) float64 { return math.Max(p.Epsilon.Float(), p.Rho.Float()) }

// either is a table in which the label is whether exactly one of two questions is
// answered yes, but for a tenth of the rows. set chooses the price and the pairs.
func either(set func(*Params, *schema.Schema)) (*dataset.Table, func() (learn.Plan, error)) {
	tab, plan := with(setting{func(p *Params, s *schema.Schema) {
		s.Label.Role, s.Label.Default = schema.Private, 0
		hide(s)
		for j := range s.Columns {
			if name := s.Columns[j].Name; name != "sex" && name != "weekly_hours" && name != "region" {
				s.Columns[j].Role = schema.Ignored
			}
		}
		set(p, s)
	}, 8_000}, 8_000)
	hours := &tab.Cols[10]
	for i := range tab.Rows {
		long := hours.Values[hours.Codes.At(i)] >= 40
		odd := long != (tab.Cols[1].Codes.At(i) == 1)
		tab.Labels[i] = 0
		if odd != (i%10 == 0) {
			tab.Labels[i] = 1
		}
	}
	return tab, plan
}

// What two columns say together and neither says alone is in the pair's shape.
func TestPairHoldsWhatNeitherColumnSays(t *testing.T) {
	tab, plan := either(func(p *Params, s *schema.Schema) {
		p.Epsilon, s.Pairs = 100*dp.Nano, [][2]int{{1, 10}}
	})
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	if len(m.Classifier.(*model.Additive).Pairs) != 1 {
		t.Fatalf("%d pairs in the model", len(m.Classifier.(*model.Additive).Pairs))
	}
	wrong := func() (share float64) {
		scores, err := m.Scores(tab.Cols, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			if (s >= 0.5) != (tab.Labels[i] == 1) {
				share += 1 / float64(tab.Rows)
			}
		}
		return share
	}
	// One of eight bins holds 40 hours and less than that.
	with := wrong()
	m.Classifier.(*model.Additive).Pairs = nil
	if without := wrong(); with > 0.3 || without < with+0.1 {
		t.Errorf("%.3f of the rows are misjudged, %.3f without the pair", with, without)
	}
}
