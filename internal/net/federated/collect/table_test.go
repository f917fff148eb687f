// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// SAMME's vote by hand, its clamps, and no vote from chance on.
func TestVote(t *testing.T) {
	for _, c := range []struct {
		err    float64
		levels int
		n      float64
		want   float64
	}{
		{0.25, 2, 1000, math.Log(3)},
		{0.5, 2, 1000, 0},
		{0.6, 2, 1000, 0},
		{0.5, 3, 1000, math.Log(2)},
		{2. / 3, 3, 1000, 0},
		{0, 2, 50, math.Log(99)},
		{-0.2, 2, 50, math.Log(99)},
		{1.3, 2, 50, 0},
		{1, 10, 50, 0},
	} {
		if got := sammeVote(c.err, c.levels, c.n); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("error %g of %d levels: vote %g, want %g", c.err, c.levels, got, c.want)
		}
	}
}

// Exact tables: totals and shares are the counts'.
func TestSharesWithoutNoise(t *testing.T) {
	law, err := response.GRRFor(30*dp.Nano, 6)
	if err != nil {
		t.Fatal(err)
	}
	tally := response.Tally{Reports: 100, Sums: []int64{10, 20, 30, 5, 10, 15}} // 10 said none
	tab := newTable(law, tally, 3)
	total := estimateTotals([]table{tab})
	for k, want := range []float64{0.15, 0.30, 0.45} {
		if math.Abs(total[k]-want) > 1e-6 {
			t.Errorf("level %d weighs %g, want %g", k, total[k], want)
		}
	}
	for i, want := range []float64{2. / 3, 2. / 3, 2. / 3, 1. / 3, 1. / 3, 1. / 3} {
		if got := tab.cellShares(total)[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("share %d is %g, want %g", i, got, want)
		}
	}
}

// A line through points on a line is that line, whatever the weights.
func TestLine(t *testing.T) {
	x, y := []float64{-1, 0, 0.5, 1}, []float64{5, 3, 2, 1}
	if slope, at := weightedLine(x, y, []float64{1, 0.1, 3, 2}); math.Abs(slope+2) > 1e-12 || math.Abs(at-3) > 1e-12 {
		t.Errorf("slope %g, height %g", slope, at)
	}
	if slope, _ := weightedLine(x, y, []float64{0, 0, 7, 0}); slope != 0 {
		t.Errorf("one point has a slope of %g", slope)
	}
}

// Halves part a number's records; a bin that has nearly all of them is not parted.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		marginal []float64
		want     []int
	}{
		{[]float64{0.1, 0.2, 0.3, 0.4}, []int{0, 0, 0, 1}},
		{[]float64{0.4, 0.3, 0.2, 0.1}, []int{0, 1, 1, 1}},
		{[]float64{0.25, 0.25, 0.25, 0.25}, []int{0, 0, 1, 1}},
		{[]float64{0.95, 0.05}, nil},
		{[]float64{1}, nil},
	} {
		if got := splitBins(c.marginal); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.marginal, got, c.want)
		}
	}
}

// Cells that were asked about together share their mass as an earlier round has
// it, evenly if it has nothing.
func TestMeansWithinGroups(t *testing.T) {
	law, err := response.GRRFor(30*dp.Nano, 4)
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(law, response.Tally{Reports: 100, Sums: []int64{30, 10, 20, 40}}, 2) // shares: .6 .2 / .4 .8
	ask := &wire.Ask{Groups: []int{0, 1, 0, 1}}
	got := tab.cellMeans(estimateTotals([]table{tab}), ask, []float64{0.3, 0, 0.1, 0})
	for c, want := range []float64{0.3, 0.3, 0.1, 0.3} {
		if math.Abs(got[c]-want) > 1e-6 {
			t.Errorf("cell %d has %g, want %g", c, got[c], want)
		}
	}
}
