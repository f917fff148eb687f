// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
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

func TestMakeMonotoneByHand(t *testing.T) {
	for _, c := range []struct {
		m               schema.Monotone
		steps, variance []float64
		want            []float64
	}{
		{schema.Free, []float64{3, 1, 2}, nil, []float64{3, 1, 2}},
		{schema.Increasing, []float64{1, 2, 3}, nil, []float64{1, 2, 3}},
		{schema.Increasing, []float64{3, 1, 2}, nil, []float64{2, 2, 2}},
		{schema.Increasing, []float64{0, 4, 2, 9}, nil, []float64{0, 3, 3, 9}},
		{schema.Decreasing, []float64{0, 4, 2, 9}, nil, []float64{3.75, 3.75, 3.75, 3.75}},
		{schema.Increasing, []float64{4, 0}, []float64{1, 3}, []float64{3, 3}},
	} {
		got := slices.Clone(c.steps)
		MakeMonotone(c.m, got, c.variance)
		for b := range got {
			if math.Abs(got[b]-c.want[b]) > 1e-6 {
				t.Errorf("%s %v: %v, want %v", c.m, c.steps, got, c.want)
				break
			}
		}
	}
}

// No nearby sequence that never falls is closer: the definition, by random
// search.
func TestMakeMonotoneIsTheNearest(t *testing.T) {
	src := replay.Seeded(1, "follow")
	uniform := func() float64 { return float64(rng.Below(src, 1<<20)) / (1 << 20) }
	for range 200 {
		n := 2 + int(rng.Below(src, 6))
		steps, variance := make([]float64, n), make([]float64, n)
		for b := range n {
			steps[b], variance[b] = 4*uniform()-2, 0.1+uniform()
		}
		got := slices.Clone(steps)
		MakeMonotone(schema.Increasing, got, variance)
		far := func(x []float64) (sum float64) {
			for b := range x {
				sum += (x[b] - steps[b]) * (x[b] - steps[b]) / variance[b]
			}
			return sum
		}
		if !slices.IsSorted(got) {
			t.Fatalf("%v falls", got)
		}
		for range 50 {
			other := slices.Clone(got)
			for b := range other {
				other[b] += 0.2 * (uniform() - 0.5)
			}
			slices.Sort(other)
			if far(other) < far(got)-1e-9 {
				t.Fatalf("%v is nearer to %v than %v", other, steps, got)
			}
		}
	}
}
