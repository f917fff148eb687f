// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
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

var oneNumber = &schema.Schema{Columns: []schema.Column{{Kind: schema.Number, Lower: 0, Upper: 4}}}

// Without noise and with rows without number, the shares are those of the rows, as far as the grid has them;
// with noise far above the rows of a class, that class stays where it is.
func TestSharesAreThoseOfTheRows(t *testing.T) {
	share := []float64{0.6, 0.3, 0.1}
	want := [][]float64{{0.7, 0.5}, {0.25, 0.35}, {0.05, 0.15}} // by class, then bin
	var rows [][]float64
	for k := range want {
		rows = append(rows, []float64{1e7 * want[k][0], 1e7 * want[k][1]})
	}
	bins := feature.NewBins(oneNumber, 0, []float64{1})
	steps, variance := ClassShares(&bins, rows, share, 0, false)
	for k := range want {
		for b, q := range want[k] {
			if got := share[k] * math.Exp(steps[k][b]); math.Abs(got-q) > 5e-3 || variance[k][b] > 1e-4 {
				t.Errorf("class %d, bin %d: share %.4f ± %.4f, want %.4f", k, b, got, math.Sqrt(variance[k][b]), q)
			}
		}
	}
	// Ten rows of a rare class among a million; noise of a thousand.
	rare := []float64{0.99999, 0.00001 / 2, 0.00001 / 2}
	for _, bins := range []feature.Bins{feature.NewBins(oneNumber, 0, []float64{1, 2, 3}), feature.NewGroups(0, nil, 4)} {
		noisy := [][]float64{{5e5, 5e5, 5e5, 5e5}, {3e3, -3e3, 2e3, 0}, {-2e3, 1e3, 3e3, 500}}
		steps, _ = ClassShares(&bins, noisy, rare, 1e3, false)
		for k := 1; k < 3; k++ {
			for b := range 4 {
				if q := rare[k] * math.Exp(steps[k][b]); q > 0.002 {
					t.Errorf("ordered %v: noise makes class %d %g likely in bin %d", bins.Ordered(), k, q, b)
				}
			}
		}
	}
}

// Where noise is far above the rows of ten classes, what one column says of them stays near
// nothing, though the wide steps that the prior knows would explain it as well.
func TestNoiseOfManyClassesStaysSmall(t *testing.T) {
	src := replay.Seeded(7, "noise of many classes")
	const classes, bins, scale = 10, 8, 3000
	cut := feature.NewBins(oneNumber, 0, []float64{0.5, 1, 1.5, 2, 2.5, 3, 3.5})
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
		steps, _ := ClassShares(&cut, rows, share, math.Sqrt2*scale, false)
		for k := range steps {
			for _, s := range steps[k] {
				sum += math.Abs(s) / (20 * classes * bins)
			}
		}
	}
	if sum > 0.2 {
		t.Errorf("noise alone makes steps of %.3f nats", sum)
	}
}
