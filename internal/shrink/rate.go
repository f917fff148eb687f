// SPDX-License-Identifier: Apache-2.0

package shrink

import "math"

const (
	shareValues = 400
	shareReach  = 15  // standard deviations of the noise
	leastRows   = 0.5 // of a class, under the prior
)

// Share estimates the share of a class from its released count among rows. deviation returns the
// standard deviation, above 0, of the noise on count − share·rows for a share. The estimate is the
// posterior mean under a prior that is uniform in log-odds, from half a row to all but half a row; it
// minimises the expected loss of predictions. A count below the noise then implies that the class is
// rare, but not how rare.
func Share(count, rows float64, gaussian bool, deviation func(share float64) float64) float64 {
	rows = math.Max(rows, 4*leastRows)
	toLogOdds := func(count float64) float64 {
		count = math.Min(math.Max(count, leastRows), rows-leastRows)
		return math.Log(count / (rows - count))
	}
	reach := shareReach * max(deviation(0), deviation(0.5), deviation(1))
	low, high := toLogOdds(count-reach), toLogOdds(count+reach)
	var logs, shares [shareValues]float64
	best := math.Inf(-1)
	for i := range logs {
		shares[i] = 1 / (1 + math.Exp(-low-(high-low)*float64(i)/(shareValues-1)))
		logs[i] = logLikelihood(count-shares[i]*rows, deviation(shares[i]), gaussian)
		best = math.Max(best, logs[i])
	}
	sum, all := 0.0, 0.0
	for i, log := range logs {
		weight := math.Exp(log - best)
		sum, all = sum+weight*shares[i], all+weight
	}
	return sum / all
}
