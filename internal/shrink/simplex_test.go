// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

func TestProjectOntoSimplexByHand(t *testing.T) {
	for _, c := range []struct {
		cells []float64
		sum   float64
		want  []float64
	}{
		{[]float64{4, 1, 2}, 10, []float64{5, 2, 3}},   // all move alike
		{[]float64{8, -6, 2}, 6, []float64{6, 0, 0}},   // two end at 0
		{[]float64{8, -6, 5}, 9, []float64{6, 0, 3}},   // one does
		{[]float64{-3, -1}, 0, []float64{0, 0}},        // no rows at all
		{[]float64{-5, -5, -5}, 6, []float64{2, 2, 2}}, // equal ones stay equal
		{[]float64{7}, 3, []float64{3}},                // a column of one bin
		{[]float64{3, 1}, 1, []float64{1, 0}},
		{[]float64{-5, 2, 2}, 2, []float64{0, 1, 1}},
		{[]float64{7, 1}, -3, []float64{0, 0}}, // less than nothing
		{[]float64{7, 1}, math.NaN(), []float64{0, 0}},
		{nil, 5, nil},
	} {
		got := slices.Clone(c.cells)
		ProjectOntoSimplex(got, c.sum)
		for b := range got {
			if math.Abs(got[b]-c.want[b]) > 1e-12 {
				t.Errorf("%v with a sum of %g became %v, want %v", c.cells, c.sum, got, c.want)
			}
		}
	}
}

// Nothing that is possible lies nearer to what was released: a small move of
// weight from one cell to another never helps.
func TestProjectOntoSimplexIsTheClosest(t *testing.T) {
	src := replay.Seeded(7, "meet")
	draw := func(scale float64) float64 { return scale * (float64(rng.Below(src, 2001)) - 1000) / 1000 }
	for range 2000 {
		cells := make([]float64, 2+rng.Below(src, 20))
		for b := range cells {
			cells[b] = draw(100)
		}
		sum := math.Abs(draw(300))
		got := slices.Clone(cells)
		ProjectOntoSimplex(got, sum)
		all := 0.0
		for b, x := range got {
			if all += x; x < 0 {
				t.Fatalf("%v with a sum of %g has a cell below 0: %v", cells, sum, got)
			}
			for to := range got {
				// The distance falls if weight that is there moves to where more was released.
				if x > 1e-9 && cells[to]-got[to] > cells[b]-x+1e-9 {
					t.Fatalf("%v with a sum of %g became %v: some of cell %d belongs to cell %d", cells, sum, got, b, to)
				}
			}
		}
		if math.Abs(all-sum) > 1e-9 {
			t.Fatalf("%v became %v, which adds up to %g, not %g", cells, got, all, sum)
		}
	}
}
