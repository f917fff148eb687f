// SPDX-License-Identifier: Apache-2.0

package grids

import "math"

// mostStep bounds a step, in nats.
const mostStep = 3

// stepsOf converts released slopes and curves of the cells to steps, by cell and then score
// (post-processing). share is the share of each class. deviation is the standard deviation of the
// noise on a slope, and curveDeviation that on a curve. Each is a Newton step, with calm standard
// deviations of the noise added to the curve. In cells with few rows, the noise therefore moves a
// score by at most stride/calm; in cells with many rows, the addition has no effect.
func (r *rules) stepsOf(slopes, curves, share []float64, deviation, curveDeviation float64) []float64 {
	steps := make([]float64, len(slopes))
	width := len(slopes) / len(curves)
	parts := curveParts(share, width)
	mean := 0.0
	for _, c := range curves {
		mean += c / float64(len(curves))
	}
	mean = math.Max(mean, 0)
	// Cells differ about as much as they are large: a prior for what noise hides.
	trust := 1.0
	if v := curveDeviation * curveDeviation; v > 0 {
		trust = mean * mean / (mean*mean + v)
	}
	for c, x := range curves {
		curve := math.Max(0, mean+trust*(x-mean))
		for k := range width {
			i := c*width + k
			step := r.stride * slopes[i] / (curve*parts[k] + r.calm*deviation + 1)
			steps[i] = rounded(math.Max(-mostStep, math.Min(mostStep, step)))
		}
	}
	return steps
}

// curveParts returns the part of each score in a row's curve: p(1−p) at the shares of the classes.
func curveParts(share []float64, width int) []float64 {
	if width == 1 { // the curve was written as 4p(1−p)
		return []float64{0.25}
	}
	parts, sum := make([]float64, width), 0.0
	for k, p := range share {
		parts[k] = p * (1 - p)
		sum += parts[k]
	}
	for k := range parts {
		parts[k] /= sum
	}
	return parts
}

// rounded rounds x to six decimals, which are enough for a model's file.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }
