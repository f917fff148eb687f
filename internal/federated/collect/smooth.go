// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// shrinkDifferences estimates, for each cell, how much a level leans to it: u such that the
// level's share of the cell is mean·(1+u), mean being the average share over all
// levels. What is seen is share − mean = mean·u + noise, of known variance.
//
// The prior of u over the cells is normal with mean zero and covariance
// spread²·(1 where the cells are one, decay where they are bins of a number), so
// the posterior mean shrinks each cell, and runs of neighbours, by what their
// noise warrants. spread, and how fast neighbours decay, are averaged over a
// grid by how well they explain the cells. The additive learner shrinks noisy
// sums the same way.
func shrinkDifferences(diff, mean, noise []float64, ordered bool, most float64) []float64 {
	n := len(diff)
	out := make([]float64, n)
	var means [][]float64
	var evidence []float64
	for _, s := range spreads {
		decays := []float64{0}
		if ordered {
			decays = reaches
		}
		for _, d := range decays {
			m, e := posteriorMean(diff, mean, noise, s*most, d*float64(n))
			if m != nil {
				means, evidence = append(means, m), append(evidence, e)
			}
		}
	}
	best := math.Inf(-1)
	for _, e := range evidence {
		best = math.Max(best, e)
	}
	all := 0.0
	for i, m := range means {
		w := math.Exp(evidence[i] - best)
		all += w
		for c := range out {
			out[c] += float64(w * m[c])
		}
	}
	if all == 0 { // rounding left no prior its covariance
		return out
	}
	for c := range out {
		out[c] = math.Min(math.Max(out[c]/all, -mostLean), mostLean*most)
	}
	return out
}

var (
	spreads = []float64{0.03, 0.06, 0.12, 0.25, 0.5, 1} // times the largest lean
	reaches = []float64{0.3, 1, math.Inf(1)}            // times the number of bins
)

const (
	rough    = 0.005 // part of spread² that neighbouring bins do not share
	mostLean = 0.97  // of what is possible: a leaf stays finite
)

// posteriorMean is the mean of u under one prior, and the logarithm of how likely
// the prior makes diff, up to a constant; nil where rounding leaves no
// covariance. reach 0: cells have nothing to do with each other.
func posteriorMean(diff, mean, noise []float64, spread, reach float64) ([]float64, float64) {
	n := len(diff)
	if reach == 0 {
		return independentPosterior(diff, mean, noise, spread)
	}
	prior, seen := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k := (1 - rough) * binCorrelation(i, j, n, reach)
			if i == j {
				k += rough
			}
			p := spread * spread * k
			prior.SetSym(i, j, p)
			s := mean[i] * mean[j] * p
			if i == j {
				s += noise[i]
			}
			seen.SetSym(i, j, s)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(seen) {
		return nil, 0
	}
	d := mat.NewVecDense(n, diff)
	var x mat.VecDense
	if chol.SolveVecTo(&x, d) != nil {
		return nil, 0
	}
	u := make([]float64, n)
	for i := range n {
		for j := range n {
			u[i] += float64(prior.At(i, j) * mean[j] * x.AtVec(j))
		}
	}
	return u, -0.5 * (mat.Dot(d, &x) + chol.LogDet())
}

// binCorrelation is the correlation of two of n bins: by their distance, or where reach is
// infinite, of a straight line of any slope through about the middle.
func binCorrelation(i, j, n int, reach float64) float64 {
	if !math.IsInf(reach, 1) {
		return math.Exp(-math.Abs(float64(j-i)) / reach)
	}
	x, y := 2*float64(i)/float64(n-1)-1, 2*float64(j)/float64(n-1)-1
	return float64(x*y) + 0.1
}

// independentPosterior is posterior for cells that have nothing to do with each other: the
// codes of a category, of which there may be thousands.
func independentPosterior(diff, mean, noise []float64, spread float64) (u []float64, evidence float64) {
	u = make([]float64, len(diff))
	for c, d := range diff {
		v := float64(spread*spread*mean[c]*mean[c]) + noise[c]
		u[c] = spread * spread * mean[c] * d / v
		evidence -= 0.5 * (d*d/v + math.Log(v))
	}
	return u, evidence
}
