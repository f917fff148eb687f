// SPDX-License-Identifier: Apache-2.0

package stattest

import "math"

// Mean checks that independent draws between lo and hi have the claimed mean, by Hoeffding's
// inequality: the average differs by more than (hi-lo) times Band with probability at most the rate,
// at every sample size.
func Mean(t T, c Claim, sample []float64, lo, hi, mean float64) {
	t.Helper()
	c.begin(t)
	if len(sample) == 0 || !(lo < hi) {
		t.Fatalf("stattest: Mean needs a sample and lo < hi (got %d draws, %g, %g)", len(sample), lo, hi)
	}
	sum := 0.0
	for _, x := range sample {
		if !(x >= lo && x <= hi) {
			t.Errorf("the sample contains %g, which is not between %g and %g", x, lo, hi)
			return
		}
		sum += x
	}
	got, band := sum/float64(len(sample)), (hi-lo)*Band(len(sample), c.FalsePositive)
	if !(math.Abs(got-mean) <= band) {
		t.Errorf("%d draws have mean %g where %g was claimed; the band is %.3g", len(sample), got, mean, band)
	}
}
