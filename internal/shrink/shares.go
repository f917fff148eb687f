// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// ClassShares converts noisy numbers of rows, by class and bin, to steps: log(share of the class in
// the bin / its share overall), with variances. share holds each class's overall share, in (0, 1) and
// adding up to 1; deviation is the standard deviation of the noise on each number.
//
// Each class against all others is a column of two classes, with the weights that rows have under a
// score with the overall shares: 1 in the rarer of the two, and less in the other, in proportion to
// its frequency. LogOdds of those cells is the step; the shares of all classes are then normalised to
// 1.
func ClassShares(bins *feature.Bins, rows [][]float64, share []float64, deviation float64, gaussian bool) (
	steps, variance [][]float64) {
	n, others := bins.Len(), math.Sqrt(float64(len(share)-1))
	all, sum := make([]float64, n), make([]float64, n)
	for _, of := range rows {
		for b, x := range of {
			all[b] += x
		}
	}
	for k, pi := range share {
		inClass, inOthers := math.Min(1, (1-pi)/pi), math.Min(1, pi/(1-pi)) // weights of rows
		c := &Cells{Positive: ScaleAll(rows[k], inClass), Negative: make([]float64, n),
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
