// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// The nearest point of the simplex: non-negative, sum 1, and no other point of
// the simplex in a better direction (its characterisation: (x−p)·(q−p) ≤ 0).
func TestToSimplex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		n := 1 + r.IntN(6)
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		p := append([]float64(nil), x...)
		toSimplex(p)
		sum := 0.0
		for _, v := range p {
			sum += v
			if !(v >= 0) {
				t.Fatalf("%v has a negative coordinate", p)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("%v adds up to %g", p, sum)
		}
		for corner := range n {
			dot := 0.0
			for i := range x {
				q := 0.0
				if i == corner {
					q = 1
				}
				dot += (x[i] - p[i]) * (q - p[i])
			}
			if dot > 1e-9 {
				t.Fatalf("%v: %v is not nearest", x, p)
			}
		}
	}
}

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

// Without noise a leaning is what was seen; drowned in noise it is none.
func TestLeanAtItsEnds(t *testing.T) {
	mean := []float64{0.1, 0.2, 0.3, 0.4}
	want := []float64{-0.6, -0.2, 0.2, 0.5}
	diff, noise := make([]float64, 4), make([]float64, 4)
	for _, ordered := range []bool{false, true} {
		for c := range diff {
			diff[c], noise[c] = mean[c]*want[c], 1e-14
		}
		for c, u := range shrinkDifferences(diff, mean, noise, ordered, 1) {
			if math.Abs(u-want[c]) > 1e-3 {
				t.Errorf("ordered %v: without noise cell %d leans %g, want %g", ordered, c, u, want[c])
			}
		}
		for c := range diff {
			noise[c] = 1e6
		}
		for c, u := range shrinkDifferences(diff, mean, noise, ordered, 1) {
			if math.Abs(u) > 1e-3 {
				t.Errorf("ordered %v: drowned in noise cell %d leans %g", ordered, c, u)
			}
		}
	}
}

// Naive twin: one prior, four cells, Gauss elimination of (P⁻¹ + M²/noise).
func TestPosteriorTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		const n = 4
		mean, diff, noise := make([]float64, n), make([]float64, n), make([]float64, n)
		for c := range mean {
			mean[c], diff[c], noise[c] = r.Float64(), r.NormFloat64(), 0.1+r.Float64()
		}
		for _, reach := range []float64{0, 1, math.Inf(1)} {
			got, _ := posteriorMean(diff, mean, noise, 0.7, reach)
			// u = P·(I + DP)⁻¹·D·(diff/mean), D = mean²/noise: no inverse of P.
			var a [n][n + 1]float64
			prior := func(i, j int) float64 {
				if reach == 0 {
					if i == j {
						return 0.49
					}
					return 0
				}
				k := (1 - rough) * binCorrelation(i, j, n, reach)
				if i == j {
					k += rough
				}
				return 0.49 * k
			}
			for i := range n {
				d := mean[i] * mean[i] / noise[i]
				for j := range n {
					a[i][j] = d * prior(i, j)
				}
				a[i][i]++
				a[i][n] = d * diff[i] / mean[i]
			}
			for i := range n {
				for k := range n {
					if k == i {
						continue
					}
					f := a[k][i] / a[i][i]
					for j := i; j <= n; j++ {
						a[k][j] -= f * a[i][j]
					}
				}
			}
			for i := range n {
				want := 0.0
				for j := range n {
					want += prior(i, j) * a[j][n] / a[j][j]
				}
				if math.Abs(got[i]-want) > 1e-9 {
					t.Fatalf("reach %g: cell %d leans %g, want %g", reach, i, got[i], want)
				}
			}
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
// it, evenly where it has nothing.
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
