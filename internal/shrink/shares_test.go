// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

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
