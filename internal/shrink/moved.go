// SPDX-License-Identifier: Apache-2.0

package shrink

import "math"

// Observed describes the releases about a column, by bin: the weight, and the variances due to the
// random choice of rows and due to noise.
type Observed struct {
	Weights, Rows []float64
	Noise         float64
}

// Observe describes cells, given the log-odds steps. There must be noise.
func (c *Cells) Observe(steps []float64) *Observed {
	o := &Observed{Weights: BinWeights(c, steps), Noise: c.Noise.DifferenceVariance()}
	for b, s := range steps {
		o.Rows = append(o.Rows, curveOf(math.Max(c.Positive[b]+c.Negative[b], 0), s))
	}
	return o
}

// curveOf returns the derivative, by the log-odds, of the difference of the two cells of a bin with
// the given weight, and the approximate variance of that difference over rows.
func curveOf(weight, step float64) float64 {
	share := sigmoid(step)
	return 2 * weight * share * (1 - share)
}

// MovedByNoise returns the variances of posterior-mean steps that are due to noise alone, and the part
// of the true steps that is estimated. variance is the posterior variance.
//
// With a normal prior of variance p and a posterior variance v, the posterior mean contains the part 1
// − v/p of the truth, and its variance over observations is v·(1 − v/p). Noise causes part of the
// variance of observations. The priors here are not normal and their widths are averaged, so that v
// and p are means over bins by weight, and p is estimated from the steps and their variances together.
func (o *Observed) MovedByNoise(steps, variance []float64) (moved []float64, shown float64) {
	all, mean, square, v := 0.0, 0.0, 0.0, 0.0
	for b, w := range o.Weights {
		all += w
		mean += w * steps[b]
		square += w * steps[b] * steps[b]
		v += w * variance[b]
	}
	moved = make([]float64, len(steps))
	spread := (square - mean*mean/all) / all
	if !(spread > 0) { // nor if no bin has weight
		return moved, 0
	}
	shown = spread / (spread + v/all)
	for b := range steps {
		moved[b] = variance[b] * shown * o.Noise / (o.Noise + o.Rows[b])
	}
	return moved, shown
}
