// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Lower is the one-sided Clopper-Pearson limit: for any p, k successes in n independent trials give
// Lower > p with probability at most alpha. It is 0 if k is 0. It panics unless 0 <= k <= n, n >= 1
// and 0 < alpha < 1.
func Lower(k, n int, alpha float64) float64 {
	checkCounts(k, n, alpha)
	// P(Binomial(n, p) >= k) grows with p; below is the last p at which it has
	// not passed alpha.
	below, _ := bisectFloats(func(p float64) bool { return upperTail(k, n, p) > alpha })
	return below
}

// Upper is the limit on the other side: Upper < p with probability at most alpha. It is 1 if k is n.
// Arguments are as for Lower.
func Upper(k, n int, alpha float64) float64 {
	checkCounts(k, n, alpha)
	_, above := bisectFloats(func(p float64) bool { return upperTail(n-k, n, 1-p) <= alpha })
	return above
}

// bisectFloats returns the two neighbouring floats in [0, 1] between which past changes from false to
// true. A limit is valid only if it is rounded outwards, and gonum's quantile of the beta distribution
// (0.17) is inaccurate if k is 0 or n and n is large: 0.063 instead of 0.00015 for Upper(0, 1e5,
// 5e-7).
func bisectFloats(past func(p float64) bool) (below, above float64) {
	below, above = 0, 1
	for {
		mid := (below + above) / 2
		if mid == below || mid == above {
			return below, above
		}
		if past(mid) {
			above = mid
		} else {
			below = mid
		}
	}
}

// EpsilonLowerBound bounds the privacy loss ε from below. An event, fixed before these runs (choose it
// on others), occurred k0 times in n0 runs on one table and k1 times in n1 runs on its neighbour. If
// the mechanism is (ε, delta)-DP the result exceeds ε with probability at most alpha. It is 0 if the
// counts prove nothing. Use both orders of the tables, and both the event and its complement, with a
// share of alpha each. It panics unless delta is in [0, 1); other arguments are as for Lower.
func EpsilonLowerBound(k0, n0, k1, n1 int, delta, alpha float64) float64 {
	if !(delta >= 0 && delta < 1) {
		panic(fmt.Sprintf("stats: needs 0 <= delta < 1 (got %g)", delta))
	}
	// p0 >= Lower and p1 <= Upper fail with probability alpha/2 each, and
	// (ε, δ)-DP means p0 <= e^ε p1 + δ. Upper is never 0 since alpha < 1.
	excess := Lower(k0, n0, alpha/2) - delta
	if !(excess > 0) {
		return 0
	}
	return max(0, math.Log(excess/Upper(k1, n1, alpha/2)))
}

func checkCounts(k, n int, alpha float64) {
	if n < 1 || k < 0 || k > n || !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("stats: needs 0 <= k <= n, n >= 1, 0 < alpha < 1 (got k=%d n=%d alpha=%g)", k, n, alpha))
	}
}

// Tails returns P(X <= k) and P(X >= k) for X ~ Binomial(n, p).
func Tails(k, n int, p float64) (atMost, atLeast float64) {
	return upperTail(n-k, n, 1-p), upperTail(k, n, p)
}

func upperTail(k, n int, p float64) float64 {
	switch {
	case k <= 0 || p >= 1:
		return 1
	case p <= 0:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}
