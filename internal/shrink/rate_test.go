// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"
)

// With little noise the share is that of the counts; below the noise it is small, grows with the
// count, and is a half where the noise is larger than the table.
func TestShareIsThatOfTheCounts(t *testing.T) {
	constant := func(d float64) func(float64) float64 { return func(float64) float64 { return d } }
	for _, gaussian := range []bool{false, true} {
		for _, want := range []float64{0.001, 0.05, 0.5, 0.93} {
			if got := Share(want*1e5, 1e5, gaussian, constant(2)); math.Abs(got-want) > 1e-4 {
				t.Errorf("share %g, not %g", got, want)
			}
		}
		last := 0.0
		for _, count := range []float64{-1e9, -2000, 0, 300, 1000, 3000, 49_000} {
			got := Share(count, 50_000, gaussian, constant(1000))
			if got < 0.999*last || got <= 0 || got >= 1 {
				t.Errorf("%g rows: share %g after %g", count, got, last)
			}
			last = got
		}
		if got := Share(0, 50_000, gaussian, constant(1000)); got > 0.01 {
			t.Errorf("no row in noise of 2 %%: share %g", got)
		}
		if got := Share(3, 100, gaussian, constant(1e6)); math.Abs(got-0.5) > 1e-3 {
			t.Errorf("noise alone: share %g", got)
		}
		for _, rows := range []float64{0, 1, 2} {
			if got := Share(1, rows, gaussian, constant(3)); !(got > 0 && got < 1) {
				t.Errorf("%g rows: share %g", rows, got)
			}
		}
	}
}

// The mean is that of a naive sum over a fine grid of the whole range.
func TestShareEqualsTheNaiveSum(t *testing.T) {
	deviation := func(share float64) float64 { return 150 * math.Sqrt((1-share)*(1-share)+share*share) }
	for _, count := range []float64{-100, 40, 500} {
		sum, all := 0.0, 0.0
		far := math.Log(9999.5 / 0.5)
		for z := -far; z <= far; z += 0.001 {
			share := 1 / (1 + math.Exp(-z))
			d := deviation(share)
			weight := math.Exp(-math.Sqrt2*math.Abs(count-share*1e4)/d) / d
			sum, all = sum+weight*share, all+weight
		}
		if got := Share(count, 1e4, false, deviation); math.Abs(got/(sum/all)-1) > 0.02 {
			t.Errorf("%g rows: share %g, not %g", count, got, sum/all)
		}
	}
}
