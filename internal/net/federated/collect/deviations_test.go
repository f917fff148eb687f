// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Without noise a deviation is what was seen; drowned in noise it is none.
func TestRelativeDeviationsAtTheirEnds(t *testing.T) {
	mean := []float64{0.1, 0.2, 0.3, 0.4}
	want := []float64{-0.6, -0.2, 0.2, 0.5}
	diff, noise := make([]float64, 4), make([]float64, 4)
	for _, ordered := range []bool{false, true} {
		for c := range diff {
			diff[c], noise[c] = mean[c]*want[c], 1e-14
		}
		for c, u := range relativeDeviations(diff, mean, noise, ordered, 1) {
			if math.Abs(u-want[c]) > 1e-3 {
				t.Errorf("ordered %v: without noise cell %d deviates by %g, want %g", ordered, c, u, want[c])
			}
		}
		for c := range diff {
			noise[c] = 1e6
		}
		for c, u := range relativeDeviations(diff, mean, noise, ordered, 1) {
			if math.Abs(u) > 1e-3 {
				t.Errorf("ordered %v: drowned in noise cell %d deviates by %g", ordered, c, u)
			}
		}
	}
}

// Naive twin: one prior, four cells, Gauss elimination of (P⁻¹ + M²/noise).
func TestPosteriorsAgreeWithElimination(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		const n = 4
		mean, diff, noise := make([]float64, n), make([]float64, n), make([]float64, n)
		for c := range mean {
			mean[c], diff[c], noise[c] = r.Float64(), r.NormFloat64(), 0.1+r.Float64()
		}
		for _, reach := range []float64{0, 1, math.Inf(1)} {
			o := &observations{diff: diff, weight: mean, noise: noise}
			got, _ := o.takeApart(0.49)
			if reach > 0 {
				got, _ = o.takeTogether(0.49, smoothCorrelation(n, reach))
			}
			// u = P·(I + DP)⁻¹·D·(diff/mean), D = mean²/noise: no inverse of P.
			var a [n][n + 1]float64
			prior := func(i, j int) float64 {
				if reach == 0 {
					if i == j {
						return 0.49
					}
					return 0
				}
				return 0.49 * smoothCorrelation(n, reach)(i, j)
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
					t.Fatalf("reach %g: cell %d deviates by %g, want %g", reach, i, got[i], want)
				}
			}
		}
	}
}
