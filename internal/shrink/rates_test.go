// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"
)

// With little noise the shares are those of the counts, however unlike; noise alone leaves them
// equal; and of classes that are about as common as each other none becomes rare for its noise.
func TestSharesOfClassesAreThoseOfTheCounts(t *testing.T) {
	constant := func(d float64) func(float64) float64 { return func(float64) float64 { return d } }
	for _, gaussian := range []bool{false, true} {
		got := Shares([]float64{79_000, 19_988, 1000, 12}, 1e5, gaussian, constant(2))
		for k, want := range []float64{0.79, 0.19988, 0.01, 0.00012} {
			if math.Abs(got[k]/want-1) > 0.1 {
				t.Errorf("class %d: share %g, not %g", k, got[k], want)
			}
		}
		for k, share := range Shares([]float64{5, -70, 30}, 100, gaussian, constant(1e6)) {
			if math.Abs(share-1.0/3) > 1e-3 {
				t.Errorf("noise alone: class %d has %g", k, share)
			}
		}
		counts := []float64{510, 480, 530, 470, 500, 490, 20, 520, 505, 495}
		got, sum := Shares(counts, 5000, gaussian, constant(200)), 0.0
		for _, share := range got {
			sum += share
		}
		if got[6] < 0.05 || math.Abs(sum-1) > 1e-12 {
			t.Errorf("shares %v add up to %g, and one is far below its like", got, sum)
		}
	}
}

// Of two classes, below the noise a share is small and grows with the count.
func TestSharesOfTwoClasses(t *testing.T) {
	constant := func(float64) float64 { return 1000 }
	for _, gaussian := range []bool{false, true} {
		last := 0.0
		for _, count := range []float64{-1e9, -2000, 0, 300, 1000, 3000, 24_000} {
			got := Shares([]float64{count, 50_000 - count}, 50_000, gaussian, constant)[0]
			if got < 0.999*last || got <= 0 || got >= 1 {
				t.Errorf("%g rows: share %g after %g", count, got, last)
			}
			last = got
		}
		if got := Shares([]float64{0, 50_000}, 50_000, gaussian, constant)[0]; got > 0.02 {
			t.Errorf("no row in noise of 2 %%: share %g", got)
		}
		for _, rows := range []float64{0, 1, 2} {
			if got := Shares([]float64{1, rows - 1}, rows, gaussian, constant)[0]; !(got > 0 && got < 1) {
				t.Errorf("%g rows: share %g", rows, got)
			}
		}
	}
}

// The mean is that of a naive sum over a fine grid.
func TestSharesEqualTheNaiveSum(t *testing.T) {
	deviation := func(share float64) float64 { return 150 * math.Sqrt((1-share)*(1-share)+share*share) }
	for _, count := range []float64{-100, 40, 500} {
		counts := []float64{count, 1e4 - count}
		var mean [2]float64
		for _, spread := range shareDeviations {
			var sums, all [2]float64
			for k := range counts {
				for z := math.Log(0.5 / 1e4); z <= math.Log1p(-0.5/1e4); z += 0.001 {
					d, off := deviation(math.Exp(z)), (z+math.Ln2)/spread
					weight := math.Exp(-math.Sqrt2*math.Abs(counts[k]-math.Exp(z)*1e4)/d-off*off/2) / d / spread
					sums[k], all[k] = sums[k]+weight*math.Exp(z), all[k]+weight
				}
			}
			for k := range counts {
				mean[k] += sums[k] * all[1-k]
			}
		}
		want := mean[0] / (mean[0] + mean[1])
		if got := Shares(counts, 1e4, false, deviation)[0]; math.Abs(got/want-1) > 0.03 {
			t.Errorf("%g rows: share %g, not %g", count, got, want)
		}
	}
}
