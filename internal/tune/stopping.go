// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// stopping is the distribution of the number of runs, a truncated negative binomial with η = num/den
// in (-1, 1] and γ = 1/patience,
//
//	P[K = k] ∝ (1-γ)^(k-1) · Π_{j=1}^{k-1} (j+η)/(j+1),  k = 1, 2, ...
type stopping struct{ num, den int64 }

var laws = map[Method]stopping{Geometric: {1, 1}, Logarithmic: {0, 1}, Root: {-1, 2}}

// shareOf returns the largest ε₁ with (2+η)·ε₁ ≤ eps.
func (l stopping) shareOf(eps dp.Epsilon) dp.Epsilon {
	return dp.Epsilon(int64(eps) * l.den / (2*l.den + l.num))
}

// drawRuns draws the number of runs exactly: a geometric proposal is accepted with the probability of
// the product above, factor by factor.
func (l stopping) drawRuns(src rng.Source, patience int) (runs int64) {
	for {
		runs = 1
		for rng.Below(src, uint64(patience)) != 0 {
			runs++
		}
		if l.keepRunning(src, runs) { // 1.7
			return runs
		}
	}
}

func (l stopping) keepRunning(src rng.Source, runs int64) bool {
	for j := int64(1); j < runs; j++ {
		if rng.Below(src, uint64((j+1)*l.den)) >= uint64(j*l.den+l.num) {
			return false
		}
	}
	return true
}

// meanRuns is the mean number of runs.
func (l stopping) meanRuns(patience int) float64 {
	eta, n := float64(l.num)/float64(l.den), float64(patience)
	if eta == 0 {
		return (n - 1) / math.Log(n)
	}
	return eta * (n - 1) / (1 - math.Pow(n, -eta))
}
