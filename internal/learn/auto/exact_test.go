// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// By hand, without privacy, of 10,000 rows: of two classes a product must lead by .002 of
// the rows or by 2.4 deviations of what the first fit leaves, whichever is more; of four by
// .025, and by nothing where numbers tell them and less than half of what was unknown is left.
func TestLeastLeadByHand(t *testing.T) {
	const rows = 10_000
	for _, c := range []struct {
		name    string
		classes int
		numbers bool
		curve   float64 // of a row, as it is written
		want    float64
	}{
		{"two classes, nothing known", 2, true, 1, 2.4 * 50},
		{"two classes, nearly known", 2, true, 0.001, 20},
		{"four classes, nothing known", 4, true, 0.75, 250},
		{"four classes, half known", 4, true, 0.376, 250},
		{"four classes, more than half known", 4, true, 0.374, -rows},
		{"four classes, told by categories", 4, false, 0.374, 250},
	} {
		tab := learntest.Levels(census.Generate(1, 50), c.classes, nil)
		s := *tab.Schema
		s.Columns = nil
		for _, col := range tab.Schema.Columns {
			if (col.Kind == schema.Number) == c.numbers {
				s.Columns = append(s.Columns, col)
			}
		}
		pl := &Plan{Params: Params{NotPrivate: true}, s: &s, rows: rows}
		score := statistic.NewStepScore(make([]float64, c.classes)) // all classes alike: 1 − Σ p² is .75 of four
		sums := &statistic.GridSums{Curves: []int64{int64(rows * c.curve * engine.WeightOne), 0}}
		got := pl.leastLeadExact(score, sums)
		if math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: %g rows, want %g", c.name, got, c.want)
		}
	}
}
