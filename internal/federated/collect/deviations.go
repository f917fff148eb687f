// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// relativeDeviations estimates, for each cell, by how much one class deviates from the mean of all
// classes: u such that its share of the cell is mean·(1+u), mean being the average share over the
// classes. diff is share − mean = mean·u + noise, of the variances noise, all above 0. largest is
// the largest u there can be.
//
// The prior of u over the cells is normal with mean zero and covariance spread²·(1 if the cells
// are one, and if ordered, decay if they are bins of a number), so the posterior mean shrinks
// each cell, and runs of neighbours, by what their noise warrants. spread, and how fast neighbours
// decay, are averaged over a grid by how well they explain the cells.
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

// observations are, by cell, diff = weight·u + noise, of which u is to be estimated.
type observations struct {
	diff, weight []float64
	noise        []float64 // variances
}

// takeApart is the posterior mean if cells have nothing in common, and the logarithm of the
// evidence up to a constant. square is the prior's variance.
func (o *observations) takeApart(square float64) (mean []float64, evidence float64) {
	for i, x := range o.diff {
		d := square*o.weight[i]*o.weight[i] + o.noise[i]
		mean = append(mean, square*o.weight[i]/d*x)
		evidence -= 0.5 * (x*x/d + math.Log(d))
	}
	return mean, evidence
}

// takeTogether is the same under a prior of a correlation.
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

// The prior. Its grid is wide enough for a column that says nothing and for one that decides.
var deviationSpreads = []float64{0.03, 0.06, 0.12, 0.25, 0.5, 1}

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
