// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"math/bits"
	"math/rand/v2"

	"github.com/discreet-dp/discreet/internal/ground/stats"
)

// projections is the number of random sets of coins that Independent checks.
const projections = 64

// Independent checks the joint distribution of coins that were flipped together many times:
// flips[i][k] is coin k in flip i. The claim is that coin k is true with probability probs[k], and
// that all coins and all flips are independent. It checks each coin, each pair by how often the two
// agree, and random sets of coins, which are projections of the joint distribution, by how often an
// odd number is true. All counts are binomial, and are checked by exact tails at equal parts of the
// rate.
func Independent(t T, c Claim, flips [][]bool, probs []float64) {
	t.Helper()
	c.begin(t)
	n, coins := len(flips), len(probs)
	if n == 0 || coins < 2 {
		t.Fatalf("stattest: needs flips of two coins or more (got %d flips of %d)", n, coins)
	}
	shown := make([][]uint64, coins) // per coin a bit for each flip
	for k := range shown {
		shown[k] = make([]uint64, (n+63)/64)
		for i, f := range flips {
			if len(f) != coins {
				t.Fatalf("stattest: flip %d is of %d coins, not %d", i, len(f), coins)
			}
			if f[k] {
				shown[k][i/64] |= 1 << (i % 64)
			}
		}
	}
	part := c.FalsePositive / float64(coins+coins*(coins-1)/2+projections) / 2
	odd := func(what string, set ...int) {
		count, skew := 0, 1.0
		for w := range shown[0] {
			x := uint64(0)
			for _, k := range set {
				x ^= shown[k][w]
			}
			count += bits.OnesCount64(x)
		}
		for _, k := range set {
			skew *= 1 - 2*probs[k]
		}
		p := (1 - skew) / 2
		if atMost, atLeast := stats.Tails(count, n, p); atMost < part || atLeast < part {
			t.Errorf("%s %v: %d of %d where probability %g was claimed: tails %.3g (at most) and %.3g (at least), rejected "+
				"below %.3g",
				what, set, count, n, p, atMost, atLeast, part)
		}
	}
	for j := range coins {
		odd("coin", j)
		for k := range j {
			odd("one of coins", k, j)
		}
	}
	src := rand.New(rand.NewPCG(1, uint64(coins))) // which sets is no part of the sample
	for range projections {
		odd("an odd number of coins", src.Perm(coins)[:2+src.IntN(coins-1)]...)
	}
}
