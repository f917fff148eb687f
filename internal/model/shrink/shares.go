// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

const (
	shareValues = 400
	leastRows   = 0.5 // of a class, in the prior
)

// shareDeviations are standard deviations of the logarithms of classes' shares, from about equal
// classes to very rare ones.
var shareDeviations = []float64{0.1, 0.25, 0.5, 1, 2, 4}

// Shares estimates the shares of two classes or more from their released counts among rows, where
// deviation is that of the noise on count − share·rows at a share, above 0: posterior means, so a count
// below the noise says that a class is rare, and not how rare. Classes tell of each other: how far apart
// the shares may lie is averaged over a grid by how well it explains all counts, so that noise does not
// make one of many classes that are about as common as each other rare. The shares add up to 1.
func Shares(counts []float64, rows float64, gaussian bool, deviation func(share float64) float64) []float64 {
	rows = math.Max(rows, 2*leastRows*float64(len(counts)))
	means, logs := make([][]float64, len(shareDeviations)), make([]float64, len(shareDeviations))
	best := math.Inf(-1)
	for i, spread := range shareDeviations {
		for _, count := range counts {
			mean, evidence := estimateShare(count, rows, spread, 1/float64(len(counts)), gaussian, deviation)
			means[i] = append(means[i], mean)
			logs[i] += evidence
		}
		best = math.Max(best, logs[i])
	}
	out, all := make([]float64, len(counts)), 0.0
	for i, of := range means {
		for k, mean := range of {
			out[k] += math.Exp(logs[i]-best) * mean
			all += math.Exp(logs[i]-best) * mean
		}
	}
	for k := range out {
		out[k] /= all
	}
	return out
}

// estimateShare returns the posterior mean of one share, whose logarithm has a normal prior around
// that of equal shares, from half a row to all but half a row; and the logarithm of the evidence.
func estimateShare(count, rows, spread, equal float64, gaussian bool, deviation func(share float64) float64) (
	mean, evidence float64) {
	low, high := math.Log(leastRows/rows), math.Log1p(-leastRows/rows)
	var logs, shares [shareValues]float64
	best := math.Inf(-1)
	step := (high - low) / (shareValues - 1)
	for i := range logs {
		z := low + step*float64(i)
		shares[i] = math.Exp(z)
		d, off := deviation(shares[i]), (z-math.Log(equal))/spread
		noise := math.Abs(count-shares[i]*rows) / d
		told := math.Sqrt2 * noise
		if gaussian {
			told = noise * noise / 2
		}
		logs[i] = -told - math.Log(d) - off*off/2
		best = math.Max(best, logs[i])
	}
	sum, all := 0.0, 0.0
	for i, log := range logs {
		weight := math.Exp(log - best)
		sum, all = sum+weight*shares[i], all+weight
	}
	return sum / all, best + math.Log(all*step/spread)
}

// ClassShares converts noisy numbers of rows, by class and bin, to steps: log(share of the class in
// the bin / its share overall), with variances. share holds each class's overall share, in (0, 1) and
// adding up to 1; deviation is the standard deviation of the noise on each number.
//
// Each class against all others is a column of two classes, with the weights that rows have under a score with the
// overall shares: 1 in the rarer of the two, and less in the other, in proportion to its frequency. LogOdds of those
// cells is the step; the shares of all classes are then normalised to 1.
func ClassShares(bins *feature.Bins, rows [][]float64, share []float64, deviation float64, gaussian bool) (
	steps, variance [][]float64) {
	n, others := bins.Len(), math.Sqrt(float64(len(share)-1))
	all, sum := make([]float64, n), make([]float64, n)
	for _, of := range rows {
		floats.Add(all, of)
	}
	for k, pi := range share {
		inClass, inOthers := math.Min(1, (1-pi)/pi), math.Min(1, pi/(1-pi)) // weights of rows
		c := &Cells{Positive: floats.ScaleTo(make([]float64, n), inClass, rows[k]), Negative: make([]float64, n),
			Noise: Noise{inClass * deviation, inOthers * others * deviation, gaussian}}
		for b, x := range rows[k] {
			c.Negative[b] = inOthers * (all[b] - x)
		}
		u, v := LogOdds(c, bins)
		shift := 0.0
		if deviation > 0 { // the class has its share of all bins together
			shift = CenterSteps(u, BinWeights(c, u), 0)
		}
		for b, x := range u {
			u[b] = sigmoid(logit(pi) + x + shift)
			sum[b] += u[b]
			v[b] *= (1 - u[b]) * (1 - u[b]) // of log σ
		}
		steps, variance = append(steps, u), append(variance, v)
	}
	for k, pi := range share {
		for b := range sum {
			steps[k][b] = math.Log(steps[k][b] / sum[b] / pi)
		}
	}
	return steps, variance
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
func logit(p float64) float64   { return math.Log(p / (1 - p)) }
