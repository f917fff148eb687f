// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/stats"
)

// Binomial checks that k successes in n trials fit the success probability p, by the exact tails of
// the binomial distribution at half the rate each.
func Binomial(t T, c Claim, k, n int, p float64) {
	t.Helper()
	c.begin(t)
	if n < 1 || k < 0 || k > n || !(p >= 0 && p <= 1) {
		t.Fatalf("stattest: needs 0 <= k <= n, n >= 1 and p in [0, 1] (got k=%d n=%d p=%g)", k, n, p)
	}
	if atMost, atLeast := stats.Tails(k, n, p); atMost < c.FalsePositive/2 || atLeast < c.FalsePositive/2 {
		t.Errorf("%d of %d where probability %g was claimed: tails %.3g (at most) and %.3g (at least), rejected below %.3g",
			k, n, p, atMost, atLeast, c.FalsePositive/2)
	}
}

// Cells checks a discrete distribution: counts[i] draws fell into cell i, whose claimed probability is
// probs[i]. Each count is binomial, so that each cell is checked by exact tails at 1/(2·cells) of the
// rate, regardless of its size. The cells must cover the distribution: probs adds up to 1 within 1e-9.
//
// Prefer few cells of similar probability, plus the tails. The number of cells reduces power only
// logarithmically, but KS detects a small shift spread over many cells better.
func Cells(t T, c Claim, counts []int, probs []float64) {
	t.Helper()
	c.begin(t)
	if len(counts) != len(probs) || len(counts) < 2 {
		t.Fatalf("stattest: needs as many probabilities as counts, at least two (got %d and %d)", len(probs), len(counts))
	}
	n, sum := 0, 0.0
	for i, k := range counts {
		if k < 0 || !(probs[i] >= 0) {
			t.Fatalf("stattest: cell %d has count %d and probability %g", i, k, probs[i])
		}
		n += k
		sum += probs[i]
	}
	if n == 0 || !(math.Abs(sum-1) <= 1e-9) {
		t.Fatalf("stattest: needs draws, and probabilities that add up to 1 (got %d and %g)", n, sum)
	}
	share := c.FalsePositive / float64(2*len(counts))
	for i, k := range counts {
		if atMost, atLeast := stats.Tails(k, n, probs[i]); atMost < share || atLeast < share {
			t.Errorf("cell %d: %d of %d where probability %g was claimed: tails %.3g (at most) and %.3g (at least), rejected "+
				"below %.3g",
				i, k, n, probs[i], atMost, atLeast, share)
		}
	}
}
