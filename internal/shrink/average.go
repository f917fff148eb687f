// SPDX-License-Identifier: Apache-2.0

package shrink

import "math"

// posterior is the result of one prior: the posterior mean of the estimated quantity and of its
// square, by bin.
type posterior struct {
	mean, square []float64
	evidence     float64 // logarithm of the probability of the observations under the prior, up to a constant
}

func newPosterior(bins int) posterior {
	return posterior{mean: make([]float64, bins), square: make([]float64, bins)}
}

// averageByEvidence averages posteriors with the same bins, weighted by their evidence. There must be
// at least one. It returns means and variances by bin.
func averageByEvidence(posteriors []posterior) (mean, variance []float64) {
	n, best, all := len(posteriors[0].mean), math.Inf(-1), 0.0
	mean, variance = make([]float64, n), make([]float64, n) // the latter as mean squares for now
	for i := range posteriors {
		best = math.Max(best, posteriors[i].evidence)
	}
	for i := range posteriors {
		p := &posteriors[i]
		weight := math.Exp(p.evidence - best)
		all += weight
		for b := range n {
			mean[b] += weight * p.mean[b]
			variance[b] += weight * p.square[b]
		}
	}
	for b := range n {
		mean[b] /= all
		variance[b] = math.Max(0, variance[b]/all-mean[b]*mean[b])
	}
	return mean, variance
}

// ScaleAll returns a new slice of the numbers multiplied by by.
func ScaleAll(of []float64, by float64) []float64 {
	out := make([]float64, len(of))
	for i, x := range of {
		out[i] = by * x
	}
	return out
}
