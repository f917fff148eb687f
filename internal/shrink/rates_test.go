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
