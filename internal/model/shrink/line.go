// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The prior of a line: its slopes are near 1 and a little less, and its shift near 0.
const (
	slopeDeviation  = 0.35 // of the logarithm of the slope
	shiftDeviation  = 0.25 // nats
	knownMean       = 0.9  // of the slope of what is known
	knownDeviation  = 0.25
	slopeStep       = 0.05
	slopeValues     = 40 // grid values, from slopeStep on
	shiftValues     = 21 // grid values over 5 standard deviations
	knownStep       = 0.1
	knownValues     = 16   // grid values, from 0 on
	likelihoodStep  = 0.1  // nats, between which the likelihood of a cell is interpolated
	likelihoodReach = 12.0 // nats
)

// Line is log-odds of the form Shift + Slope·x + Known·z, where x is a score that is measured and z one that the
// weights of rows know. Noise alone moves them by independent amounts with the standard deviations
// SlopeMoved·(x − Middle), ShiftMoved and KnownMoved·z. ShiftShown is the part of a true shift that is estimated.
type Line struct{ Slope, Shift, Known, SlopeMoved, ShiftMoved, KnownMoved, Middle, ShiftShown float64 }

// FitLine fits a line to cells, with x and z by bin: the posterior mean of slopes and shift under the prior above. With
// more noise it is closer to the prior's line. If all z are 0, Known is 1. Rows weigh as under z. own is for how many numbers
// x has fitted the chance of the same rows: by so much the likelihood rises with the slope for nothing, as far as cells
// tell (Efron 2004). Time is O(bins), with a large constant.
func FitLine(c *Cells, x, z []float64, own float64) Line {
	type point struct{ slope, shift, known, log float64 }
	var points []point
	c = c.withLeastNoise()
	like, known, best := c.tabulate(), []float64{1}, math.Inf(-1)
	own *= c.partSeen(x)
	if floats.Norm(z, math.Inf(1)) > 0 {
		known = floats.Span(make([]float64, knownValues), 0, knownStep*(knownValues-1))
	}
	for i := range slopeValues {
		s := slopeStep * float64(i+1)
		l := math.Log(s) / slopeDeviation
		for j := range shiftValues {
			d := 5 * (float64(j)/(shiftValues-1) - 0.5) // deviations
			for _, a := range known {
				k := (a - knownMean) / knownDeviation
				p := point{s, d * shiftDeviation, a, -l*l/2 - math.Log(s) - d*d/2 - k*k/2 - own*s}
				for b, at := range x {
					p.log += like[b].at(p.shift + s*at + (a-1)*z[b])
				}
				points, best = append(points, p), math.Max(best, p.log)
			}
		}
	}
	var l Line
	all := 0.0
	for i := range points {
		p := &points[i]
		p.log = math.Exp(p.log - best)
		all += p.log
		l.Slope += p.log * p.slope
		l.Shift += p.log * p.shift
		l.Known += p.log * p.known
	}
	l.Slope, l.Shift, l.Known = l.Slope/all, l.Shift/all, l.Known/all
	var v spread
	for _, p := range points {
		slope, shift, known := p.slope-l.Slope, p.shift-l.Shift, p.known-l.Known
		v.slopes += p.log / all * slope * slope
		v.shifts += p.log / all * shift * shift
		v.both += p.log / all * slope * shift
		v.known += p.log / all * known * known
	}
	l.findMoved(c, x, z, v)
	return l
}

// partSeen is which part of the chance of rows in a slope of x the cells show, since they are noisy, too.
func (c *Cells) partSeen(x []float64) float64 {
	noise, seen, all := c.Noise.DifferenceVariance(), 0.0, 1e-300
	for b, w := range BinWeights(c, x) {
		curve := curveOf(w, x[b]) * x[b] * x[b]
		all += curve
		seen += curve * curveOf(w, x[b]) / (curveOf(w, x[b]) + noise)
	}
	return seen / all
}

// Fitted is for how many numbers steps have fitted the chance of rows, of which variance is the posterior variance: the sum
// of by how much each follows its own cells, less one for their mean, which is known.
func (c *Cells) Fitted(steps, variance []float64) float64 {
	fitted, noise := -1.0, c.Noise.DifferenceVariance()
	for b, w := range BinWeights(c, steps) {
		curve := curveOf(w, steps[b])
		fitted += math.Min(1, variance[b]*curve*curve/math.Max(curve+noise, 1e-300))
	}
	return math.Max(0, fitted)
}

// tabulated is the log-likelihood of a bin's cells, by log-odds.
type tabulated []float64

func (c *Cells) tabulate() []tabulated {
	out := make([]tabulated, len(c.Positive))
	for b := range out {
		for k := range int(2*likelihoodReach/likelihoodStep) + 2 {
			out[b] = append(out[b], c.computeLogLikelihood(b, likelihoodStep*float64(k)-likelihoodReach))
		}
	}
	return out
}

func (t tabulated) at(theta float64) float64 {
	way := (math.Min(math.Max(theta, -likelihoodReach), likelihoodReach) + likelihoodReach) / likelihoodStep
	k := int(way)
	return t[k] + (way-float64(k))*(t[k+1]-t[k])
}

// spread has variances of a line's posterior, and the covariance of slope and shift.
type spread struct{ slopes, shifts, known, both float64 }

// findMoved computes the effect of noise alone on the line from the posterior. At x = Middle slope and
// shift are uncorrelated, and each is treated as normal with a normal prior (see MovedByNoise), as the slope of what is
// known is. Part of the observed variance is due to noise, more if there are fewer rows.
func (l *Line) findMoved(c *Cells, x, z []float64, v spread) {
	if v.slopes > 0 {
		l.Middle = -v.both / v.slopes
		v.shifts = math.Max(0, v.shifts-v.both*v.both/v.slopes)
	}
	noise := c.Noise.DifferenceVariance()
	steps := make([]float64, len(x))
	for b, at := range x {
		steps[b] = l.Shift + l.Slope*at + (l.Known-1)*z[b]
	}
	var seen, alone [3]float64
	for b, w := range BinWeights(c, steps) {
		// By so much the difference of the cells follows the log-odds; it is also the variance of sampling.
		curve := curveOf(w, steps[b])
		for i, way := range [3]float64{x[b] - l.Middle, 1, z[b]} {
			told := curve * curve * way * way / (noise + curve)
			seen[i] += told
			alone[i] += told * noise / (noise + curve)
		}
	}
	moved := func(i int, variance, prior float64) (deviation, shown float64) {
		shown = math.Max(0, 1-variance/(prior*prior))
		if !(seen[i] > 0) {
			return 0, shown
		}
		return math.Sqrt(variance * shown * alone[i] / seen[i]), shown
	}
	l.SlopeMoved, _ = moved(0, v.slopes, slopeDeviation*l.Slope)
	l.ShiftMoved, l.ShiftShown = moved(1, v.shifts, shiftDeviation)
	l.KnownMoved, _ = moved(2, v.known, knownDeviation)
}

// BinWeights estimates the weight of each bin from both of its cells, given the log-odds steps; the
// cell with less noise has more influence. No weight is negative. There must be noise.
func BinWeights(c *Cells, steps []float64) []float64 {
	out := make([]float64, len(steps))
	p, q := c.Noise.Positive*c.Noise.Positive, c.Noise.Negative*c.Noise.Negative
	for b, s := range steps {
		share := sigmoid(s)
		u, v := share/p, (1-share)/q
		out[b] = math.Max(0, (c.Positive[b]*u+c.Negative[b]*v)/(u*share+v*(1-share)))
	}
	return out
}

// ShareWeights estimates the share of the weight of all rows in each bin, given the log-odds steps. All cells
// together say what that weight is, so that noise in bins that are nearly empty does not add to it.
func (c *Cells) ShareWeights(steps []float64) []float64 {
	weights := BinWeights(c, steps)
	ProjectOntoSimplex(weights, floats.Sum(c.Positive)+floats.Sum(c.Negative))
	return ShareOut(weights)
}

// ShareOut divides weights by their sum, rounded to four digits; all are 0 if the sum is.
func ShareOut(weights []float64) []float64 {
	const parts = 1e4
	out, all := make([]float64, len(weights)), floats.Sum(weights)
	for b, w := range weights {
		if all > 0 {
			out[b] = math.Round(parts*w/all) / parts
		}
	}
	return out
}

// CenterSteps finds the shift of all steps for which they imply balance: the mean over bins, by weight, of the
// difference between the positive class and the other, in (-1, 1). It is within ±4 nats, and 0 if no bin has weight.
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

// curveOf returns the derivative, by the log-odds, of the difference of the two cells of a bin with
// the given weight, and the approximate variance of that difference over rows.
func curveOf(weight, step float64) float64 {
	share := sigmoid(step)
	return 2 * weight * share * (1 - share)
}

// MovedByNoise returns the variances of posterior-mean steps that are due to noise alone, and the part
// of the true steps that is estimated. variance is the posterior variance.
//
// With a normal prior of variance p and a posterior variance v, the posterior mean contains the part 1 − v/p of the
// truth, and its variance over observations is v·(1 − v/p). Noise causes part of the variance of observations. The
// priors here are not normal and their widths are averaged, so that v and p are means over bins by weight, and p is
// estimated from the steps and their variances together. The bins' weights are returned, too. There must be noise.
func (c *Cells) MovedByNoise(steps, variance []float64) (moved, weights []float64, shown float64) {
	weights, rows := BinWeights(c, steps), make([]float64, len(steps))
	for b, s := range steps {
		rows[b] = curveOf(math.Max(c.Positive[b]+c.Negative[b], 0), s)
	}
	moved, shown = movedByNoise(weights, rows, c.Noise.DifferenceVariance(), steps, variance)
	return moved, weights, shown
}

// movedByNoise is MovedByNoise for bins of such weights, of which rows and noise are variances.
func movedByNoise(weights, rows []float64, noise float64, steps, variance []float64) (moved []float64, shown float64) {
	all, mean, square, v := 0.0, 0.0, 0.0, 0.0
	for b, w := range weights {
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
		moved[b] = variance[b] * shown * noise / (noise + rows[b])
	}
	return moved, shown
}
