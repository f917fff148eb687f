// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
)

// RelativeDeviations estimates, for each cell, by how much one class deviates from the mean of all
// classes: u such that its share of the cell is mean·(1+u), mean being the average share over the
// classes. diff is share − mean = mean·u + noise, of the variances noise, all above 0. largest is
// the largest u there can be.
//
// The prior of u over the cells is normal with mean zero and covariance spread²·(1 where the cells
// are one, and if ordered, decay where they are bins of a number), so the posterior mean shrinks
// each cell, and runs of neighbours, by what their noise warrants. spread, and how fast neighbours
// decay, are averaged over a grid by how well they explain the cells.
func RelativeDeviations(diff, mean, noise []float64, ordered bool, largest float64) []float64 {
	n := len(diff)
	o := &observations{diff: make([]float64, n), weight: make([]float64, n), noise: make([]float64, n)}
	unit := math.Sqrt(slices.Min(noise)) // so that factorCholesky keeps its distance from 0
	for c := range n {
		o.diff[c], o.weight[c], o.noise[c] = diff[c]/unit, mean[c]/unit, noise[c]/(unit*unit)
	}
	var posteriors []posterior
	for _, spread := range spreads {
		square := spread * largest * spread * largest
		if !ordered {
			posteriors = append(posteriors, o.posteriorOfExchangeable(0, square))
			continue
		}
		for _, reach := range deviationReaches {
			prior := newDensePrior(n, 0, square, smoothCorrelation(n, reach*float64(n)))
			posteriors = append(posteriors, o.posteriorUnder(prior))
		}
	}
	u, _ := averageByEvidence(posteriors)
	for c := range u {
		u[c] = math.Min(math.Max(u[c], -mostDeviation), mostDeviation*largest)
	}
	return u
}

var deviationReaches = []float64{0.3, 1, math.Inf(1)} // times the number of bins

const (
	roughDeviation = 0.005 // part of spread² that neighbouring bins do not share
	mostDeviation  = 0.97  // of what is possible: a logarithm of 1+u stays finite
)

// smoothCorrelation is the correlation of two of n bins: by their distance, or where reach is
// infinite, of a straight line of any slope through about the middle.
func smoothCorrelation(n int, reach float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		k := math.Exp(-math.Abs(float64(j-i)) / reach)
		if math.IsInf(reach, 1) {
			x, y := 2*float64(i)/float64(n-1)-1, 2*float64(j)/float64(n-1)-1
			k = x*y + 0.1
		}
		k *= 1 - roughDeviation
		if i == j {
			k += roughDeviation
		}
		return k
	}
}
