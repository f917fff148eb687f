// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Columns that add the same to every row are taken back, and so is the mean of what they add where
// classes are equal, however far it spreads. Of a rare class spread alone raises the mean of the
// answers, for small ones about by half its square.
func TestKeepBaseRate(t *testing.T) {
	for _, c := range []struct{ pos, neg, mean, spread, want float64 }{
		{50, 50, 0, 0, 0},
		{50, 50, 1.5, 0, -1.5},
		{50, 50, -2, 1, 2},
		{25, 75, 0.7, 0, -0.7},
		{1, 4999, 0, 0.5, -0.125},
		{0, 0, 1, 1, 0}, // no rows
	} {
		g := &engine.Groups{Len: 1}
		score := &feature.Additive{Intercept: math.Log(math.Max(c.pos, 1) / math.Max(c.neg, 1))}
		got := keepBaseRate(score, g, []float64{c.pos}, []float64{c.neg}, c.mean, c.spread)
		if math.Abs(got-c.want) > 1.0/32+1e-3 { // scores are rounded
			t.Errorf("%+v: %g", c, got)
		}
	}
}
