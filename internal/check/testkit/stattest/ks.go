// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"math"
	"slices"
)

// KS checks that independent draws follow the distribution function cdf (right-continuous; jumps are
// allowed). The empirical distribution function must stay within Band of it everywhere. Memory and
// time: one sorted copy of sample, which is not changed.
func KS(t T, c Claim, sample []float64, cdf func(x float64) float64) {
	t.Helper()
	c.begin(t)
	if len(sample) == 0 {
		t.Fatalf("stattest: KS needs a sample")
	}
	x := slices.Clone(sample)
	slices.Sort(x) // NaN first
	if math.IsNaN(x[0]) {
		t.Errorf("the sample contains NaN")
		return
	}
	n := float64(len(x))
	band := Band(len(x), c.FalsePositive)
	worst, at := 0.0, 0.0
	for lo, hi := 0, 0; lo < len(x); lo = hi {
		for hi = lo + 1; hi < len(x) && x[hi] == x[lo]; hi++ {
		}
		// Between draws the empirical function is flat and cdf rises, so the
		// gap is widest at a draw (from the right) or just before it.
		right := math.Abs(float64(hi)/n - cdf(x[lo]))
		left := math.Abs(float64(lo)/n - cdf(math.Nextafter(x[lo], math.Inf(-1))))
		if gap := max(right, left); !(gap <= worst) { // a NaN from cdf counts as a gap
			worst, at = gap, x[lo]
		}
	}
	if !(worst <= band) {
		t.Errorf("empirical and claimed distribution differ by %.4g at %g; the band of %d draws is %.4g", worst, at,
			len(x), band)
	}
}

// Band is the half-width √(ln(2/α)/2n) that the empirical distribution
// function of n independent draws exceeds with probability at most alpha
// (Dvoretzky-Kiefer-Wolfowitz with Massart's constant, all n, all laws).
func Band(n int, alpha float64) float64 {
	return math.Sqrt(math.Log(2/alpha) / (2 * float64(n)))
}
