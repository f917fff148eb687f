// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/privacy/mech/mechtest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestFollowByHand(t *testing.T) {
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
		follow(c.m, got, c.variance)
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
func TestFollowIsTheNearest(t *testing.T) {
	src := replay.Seeded(1, "follow")
	uniform := func() float64 { return float64(rng.Below(src, 1<<20)) / (1 << 20) }
	for range 200 {
		n := 2 + int(rng.Below(src, 6))
		steps, variance := make([]float64, n), make([]float64, n)
		for b := range n {
			steps[b], variance[b] = 4*uniform()-2, 0.1+uniform()
		}
		got := slices.Clone(steps)
		follow(schema.Increasing, got, variance)
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

// A model follows what its schema says, whatever the noise.
func TestModelIsMonotone(t *testing.T) {
	c := settings()["partly private, in turn"]
	tab, plan := with(c, 400)
	for j := range tab.Schema.Columns {
		if tab.Schema.Columns[j].Kind == schema.Number {
			tab.Schema.Columns[j].Monotone = schema.Decreasing
		}
	}
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, &mechtest.Recorder{}, 3)
	seen := 0
	for _, sh := range m.Additive.Shapes {
		if len(sh.Edges) == 0 {
			continue
		}
		seen++
		if !slices.IsSortedFunc(sh.LogOdds, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("%s rises: %v", sh.Column, sh.LogOdds)
		}
	}
	if seen == 0 {
		t.Error("the table has no number")
	}
}
