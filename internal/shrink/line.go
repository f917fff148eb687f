// SPDX-License-Identifier: Apache-2.0

package shrink

import "math"

// The prior of a line: most slopes are near 1, and some are anywhere between 0 and 1, as where
// columns say nothing.
const (
	slopeDeviation = 0.35 // of the logarithm of a slope
	slopeAnywhere  = 0.1  // part of the prior
	shiftDeviation = 0.25 // nats
	slopeStep      = 0.05
	slopeValues    = 40 // from slopeStep on
	shiftValues    = 21 // over 5 deviations
	steepest       = 12 // nats of a line, where it is cut off
)

// FitLine fits log-odds that are shift + slope·x to cells, x by bin: the posterior mean of slope
// and shift under the prior above. With more noise it is closer to the prior's, (1, 0). There must
// be noise. Time O(bins), with a large constant.
func FitLine(c *Cells, x []float64) (slope, shift float64) {
	type point struct{ slope, shift, log float64 }
	var points []point
	best := math.Inf(-1)
	for i := range slopeValues {
		s := slopeStep * float64(i+1)
		for j := range shiftValues {
			d := 5 * (float64(j)/(shiftValues-1) - 0.5) // deviations
			p := point{s, d * shiftDeviation, math.Log(slopePrior(s)) - d*d/2}
			for b, at := range x {
				p.log += c.computeLogLikelihood(b, math.Min(math.Max(p.shift+s*at, -steepest), steepest))
			}
			points, best = append(points, p), math.Max(best, p.log)
		}
	}
	all := 0.0
	for _, p := range points {
		weight := math.Exp(p.log - best)
		all += weight
		slope += weight * p.slope
		shift += weight * p.shift
	}
	return slope / all, shift / all
}

// slopePrior is the density of a slope above 0.
func slopePrior(slope float64) float64 {
	d := math.Log(slope) / slopeDeviation
	density := (1 - slopeAnywhere) * math.Exp(-d*d/2) / (slope * slopeDeviation * math.Sqrt(2*math.Pi))
	if slope <= 1 {
		density += slopeAnywhere
	}
	return density
}

// BinWeights estimates the weight of each bin from both of its cells, the one with less noise
// counting more, where log-odds are steps. No weight is below 0. There must be noise.
func BinWeights(c *Cells, steps []float64) []float64 {
	out := make([]float64, len(steps))
	p, q := c.Noise.Positive*c.Noise.Positive, c.Noise.Negative*c.Noise.Negative
	for b, s := range steps {
		share := 1 / (1 + math.Exp(-s))
		u, v := share/p, (1-share)/q
		out[b] = math.Max(0, (c.Positive[b]*u+c.Negative[b]*v)/(u*share+v*(1-share)))
	}
	return out
}

// CenterSteps finds what to add to all steps so that they expect balance: the mean over bins, by
// weight, of what the positive class has more than the other, in (-1, 1). It is within ±4 nats, and
// 0 where no bin has weight.
func CenterSteps(steps, weight []float64, balance float64) float64 {
	all := 0.0
	for _, w := range weight {
		all += w
	}
	if !(all > 0) {
		return 0
	}
	low, high := -4.0, 4.0
	for range 40 {
		middle, sum := (low+high)/2, 0.0
		for b, s := range steps {
			sum += weight[b] * math.Tanh((s+middle)/2)
		}
		if sum < balance*all {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
