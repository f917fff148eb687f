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
