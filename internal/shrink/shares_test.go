// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Without noise and with rows without number, the shares are those of the rows;
// with noise far above the rows of a class, that class stays where it is.
func TestSharesAreThoseOfTheRows(t *testing.T) {
	share := []float64{0.6, 0.3, 0.1}
	want := [][]float64{{0.7, 0.5}, {0.25, 0.35}, {0.05, 0.15}} // by class, then bin
	var rows [][]float64
	for k := range want {
		rows = append(rows, []float64{1e7 * want[k][0], 1e7 * want[k][1]})
	}
	steps, variance := ClassShares(rows, 2e7, 0, share, true)
	for k := range want {
		for b, q := range want[k] {
			if got := share[k] * math.Exp(steps[k][b]); math.Abs(got-q) > 1e-3 || variance[k][b] > 1e-4 {
				t.Errorf("class %d, bin %d: share %.4f ± %.4f, want %.4f", k, b, got, math.Sqrt(variance[k][b]), q)
			}
		}
	}
	// Ten rows of a rare class among a million; noise of a thousand.
	rare := []float64{0.99999, 0.00001 / 2, 0.00001 / 2}
	for _, ordered := range []bool{true, false} {
		noisy := [][]float64{{5e5, 5e5, 5e5, 5e5}, {3e3, -3e3, 2e3, 0}, {-2e3, 1e3, 3e3, 500}}
		steps, _ = ClassShares(noisy, 2e6, 1e6, rare, ordered)
		for k := 1; k < 3; k++ {
			for b := range 4 {
				if q := rare[k] * math.Exp(steps[k][b]); q > 0.002 {
					t.Errorf("ordered %v: noise makes class %d %g likely in bin %d", ordered, k, q, b)
				}
			}
		}
	}
}

// Two priors of one bin have the same posterior, whichever of the two ways of
// reckoning takes it.
func TestClassPriorsAgree(t *testing.T) {
	for _, x := range []float64{-300, 10, 2_000} {
		tl := &classObservations{share: 0.2, diff: []float64{x}, weight: []float64{10_000}, noise: 400}
		u := make([]float64, 1)
		ordered, free := newDensePrior(1, classVariance, 0.25, neighbourCorrelation(1)), &exchangeablePrior{square: 0.25}
		a, va := tl.findMode(u, ordered)
		b, vb := tl.findMode(u, free)
		a, b = a.withVariance(va()), b.withVariance(vb())
		for _, d := range []float64{a.mean[0] - b.mean[0], a.square[0] - b.square[0], a.evidence - b.evidence} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%g: %+v and %+v", x, a, b)
			}
		}
	}
}

// Where noise is far above the rows of ten classes, what one column says of them stays near
// nothing, though the wide steps that the prior knows would explain it as well.
func TestNoiseOfManyClassesStaysSmall(t *testing.T) {
	src := replay.Seeded(7, "noise of many classes")
	const classes, bins, scale = 10, 8, 3000
	sum := 0.0
	for range 20 {
		rows, share := make([][]float64, classes), make([]float64, classes)
		for k := range rows {
			share[k] = 1.0 / classes
			for range bins {
				u := float64(src.Uint64()>>11)/(1<<53) - 0.5
				rows[k] = append(rows[k], 60-math.Copysign(scale*math.Log(1-2*math.Abs(u)), u))
			}
		}
		steps, _ := ClassShares(rows, 60*classes*bins, 2*scale*scale, share, true)
		for k := range steps {
			for _, s := range steps[k] {
				sum += math.Abs(s) / (20 * classes * bins)
			}
		}
	}
	if sum > 0.1 {
		t.Errorf("noise alone makes steps of %.3f nats", sum)
	}
}
