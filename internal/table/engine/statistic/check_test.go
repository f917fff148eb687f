// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Caps and limits are taken at their bounds and refused beyond, and so are sums of nothing.
func TestStatisticsBeyondTheirBoundsAreRefused(t *testing.T) {
	s := census.Schema()
	j := s.Features()[0]
	bins := []feature.Bins{feature.NewBins(s, j, nil)}
	for caps, ok := range map[Caps]bool{{1, 1}: true, FullCaps: true, {1, engine.WeightOne}: true, {0, 1}: false, {1, 0}: false,
		{engine.WeightOne + 1, 1}: false, {1, engine.WeightOne + 1}: false, {math.MaxUint32, math.MaxUint32}: false} {
		if err := (Cells{Bins: bins, Caps: caps}).Check(s); (err == nil) != ok {
			t.Errorf("caps %v: %v", caps, err)
		}
	}
	grids := []feature.Grid{{Axes: []feature.Bins{bins[0].WithoutMarks()}}}
	for most, ok := range map[float64]bool{math.SmallestNonzeroFloat64: true, 0.5: true, 1: true, 0: false, -1: false,
		math.Nextafter(1, 2): false, math.NaN(): false, math.Inf(1): false} {
		if err := (GridSlopes{Under: NewStepScore(make([]float64, gridScores(s))), Grids: grids, Limit: SlopeLimit{Most: most}}).Check(s); (err == nil) != ok {
			t.Errorf("slopes up to %g: %v", most, err)
		}
	}
	for _, of := range []interface{ Check(*schema.Schema) error }{Cells{Caps: FullCaps}, ClassCells{}, GridSlopes{Limit: SlopeLimit{Most: 1}}} {
		if of.Check(s) == nil {
			t.Errorf("%T of nothing is taken", of)
		}
	}
}
