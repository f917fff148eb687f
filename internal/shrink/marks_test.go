// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Amounts are estimated as if there were no marks, and a mark moves none of them.
func TestMarksAreEstimatedOnTheirOwn(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Kind: schema.Number, Lower: 0, Upper: 4, Missing: true,
		Special: []float64{96}}}}
	bins := feature.NewBins(s, 0, []float64{1, 2, 3})
	amounts := bins.WithoutMarks()
	for _, noise := range []Noise{{}, {Positive: 5, Negative: 5}, {Positive: 5, Negative: 5, Gaussian: true}} {
		c := &Cells{[]float64{10, 20, 30, 40, 300, 0}, []float64{40, 30, 20, 10, 0, 300}, noise}
		steps, variance := LogOdds(c, &bins)
		want, _ := LogOdds(&Cells{c.Positive[:4], c.Negative[:4], noise}, &amounts)
		if len(steps) != 6 || len(variance) != 6 || !slices.Equal(steps[:4], want) {
			t.Errorf("%+v: %v, want %v first", noise, steps, want)
		}
		if !(steps[4] > 1) || !(steps[5] < -1) {
			t.Errorf("%+v: marks have %v", noise, steps[4:])
		}
	}
}
