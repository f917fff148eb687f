// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"iter"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Several of the shares have the negative binomial law of their part.
func TestSomeShares(t *testing.T) {
	const scale, parts, n, cells = 3, 5, 100_000, 8
	src := replay.Seeded(1, "some")
	for _, some := range []uint64{1, 3, 5} {
		counts, probs := make([]int, cells), make([]float64, cells)
		for range n {
			counts[min(drawPolya(src, drawGeometric(src, scale), some, parts), cells-1)]++
		}
		for k, p := range negativeBinomial(float64(some)/parts, math.Exp(-1.0/scale), 200) {
			probs[min(k, cells-1)] += p
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "a share more or fewer"}
		stattest.Cells(t, claim, counts, probs)
		stattest.Rejects(t, func(t stattest.T) {
			more := make([]float64, cells)
			for k, p := range negativeBinomial(float64(some+1)/parts, math.Exp(-1.0/scale), 200) {
				more[min(k, cells-1)] += p
			}
			stattest.Cells(t, claim, counts, more)
		})
	}
}

// A crowd drawn at once estimates what it holds, and its noise has the variance
// of its owners' addends.
func TestCellCrowd(t *testing.T) {
	const owners, runs = 50, 300
	l, err := response.CellAddendFor(dp.Nano, 6, 2, owners, 25)
	if err != nil {
		t.Fatal(err)
	}
	exit := NewExit(replay.Seeded(2, "crowd"))
	var crowd iter.Seq2[[]int, float64] = func(yield func([]int, float64) bool) {
		for i := range owners {
			if !yield([]int{0, 2 + i%3}, 0.75) {
				return
			}
		}
	}
	mean, square := make([]float64, 6), make([]float64, 6)
	for range runs {
		sum, err := exit.CellCrowd(l, crowd)
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range l.Sum(response.Total(sum, owners)) {
			mean[j] += x / runs
			square[j] += x * x / runs
		}
	}
	for j, want := range []float64{37.5, 0, 0.75 * 17, 0.75 * 17, 0.75 * 16, 0} {
		v := l.Variance(0) * owners
		if math.Abs(mean[j]-want) > 8*math.Sqrt(v/runs) {
			t.Errorf("coordinate %d: %g on average, want %g", j, mean[j], want)
		}
		if got := square[j] - mean[j]*mean[j]; math.Abs(got/v-1) > 0.6 {
			t.Errorf("coordinate %d: variance %g, want %g", j, got, v)
		}
	}
	if _, err := exit.CellCrowd(l, func(yield func([]int, float64) bool) { yield([]int{0, 1, 2}, 1) }); err == nil {
		t.Error("three cells of two were taken")
	}
}
