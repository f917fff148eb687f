// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// relativeDeviations estimates, for each cell, the relative deviation u of one class from the mean of
// all classes: the class has the share mean·(1+u) of the cell, and mean is the average share over the
// classes. diff is share − mean = mean·u plus noise with the variances noise, all above 0. largest is
// the largest possible u.
//
// The prior of u is normal with mean zero and variance spread². Cells are independent, unless ordered
// is set: then they are bins of a number, and their correlation decays with their distance. The
// posterior mean thus shrinks each cell, and runs of neighbours, according to their noise. The spread
// and the decay are averaged over a grid, weighted by the evidence.
func relativeDeviations(diff, mean, noise []float64, ordered bool, largest float64) []float64 {
	n := len(diff)
	o := &observations{diff: make([]float64, n), weight: make([]float64, n), noise: make([]float64, n)}
	unit := math.Sqrt(slices.Min(noise)) // so that the factor keeps its distance from 0
	for c := range n {
		o.diff[c], o.weight[c], o.noise[c] = diff[c]/unit, mean[c]/unit, noise[c]/(unit*unit)
	}
	var means [][]float64
	var evidence []float64
	add := func(mean []float64, log float64) { means, evidence = append(means, mean), append(evidence, log) }
	for _, spread := range deviationSpreads {
		square := spread * largest * spread * largest
		if !ordered {
			add(o.takeApart(square))
			continue
		}
		for _, reach := range deviationReaches {
			add(o.takeTogether(square, smoothCorrelation(n, reach*float64(n))))
		}
	}
	best, all, u := slices.Max(evidence), 0.0, make([]float64, n)
	for i, mean := range means {
		weight := math.Exp(evidence[i] - best)
		all += weight
		for c, x := range mean {
			u[c] += weight * x
		}
	}
	for c := range u {
		u[c] = math.Min(math.Max(u[c]/all, -mostDeviation), mostDeviation*largest)
	}
	return u
}

// observations holds, by cell, diff = weight·u + noise, from which u is estimated.
type observations struct {
	diff, weight []float64
	noise        []float64 // variances
}

// takeApart returns the posterior mean for independent cells, and the logarithm of the evidence up to
// a constant. square is the prior's variance.
func (o *observations) takeApart(square float64) (mean []float64, evidence float64) {
	for i, x := range o.diff {
		d := square*o.weight[i]*o.weight[i] + o.noise[i]
		mean = append(mean, square*o.weight[i]/d*x)
		evidence -= 0.5 * (x*x/d + math.Log(d))
	}
	return mean, evidence
}

// takeTogether is the same for a prior with a correlation.
func (o *observations) takeTogether(square float64, correlation func(i, j int) float64) (mean []float64, evidence float64) {
	n := len(o.diff)
	prior, seen := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k := square * correlation(i, j)
			prior.SetSym(i, j, k)
			if k *= o.weight[i] * o.weight[j]; i == j {
				k += o.noise[i]
			}
			seen.SetSym(i, j, k)
		}
	}
	var factor mat.Cholesky
	factor.Factorize(seen) // noise keeps it positive
	y := mat.NewVecDense(n, nil)
	if err := factor.SolveVecTo(y, mat.NewVecDense(n, o.diff)); err != nil { // all but singular
		return make([]float64, n), math.Inf(-1)
	}
	for i := range n {
		u := 0.0
		for j := range n {
			u += prior.At(i, j) * o.weight[j] * y.AtVec(j)
		}
		mean = append(mean, u)
		evidence -= 0.5 * o.diff[i] * y.AtVec(i)
	}
	return mean, evidence - 0.5*factor.LogDet()
}

// The prior. Its grid covers columns without influence and columns that determine the class.
var deviationSpreads = []float64{0.03, 0.06, 0.12, 0.25, 0.5, 1}

var deviationReaches = []float64{0.3, 1, math.Inf(1)} // as multiples of the number of bins

const (
	roughDeviation = 0.005 // part of spread² that is independent between neighbouring bins
	mostDeviation  = 0.97  // share of the largest possible deviation, to keep the logarithm of 1+u finite
)

// smoothCorrelation returns the correlation of two of n bins. It depends on their distance; if reach
// is infinite, it is that of a straight line of random slope through about the middle.
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
