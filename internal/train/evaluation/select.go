// SPDX-License-Identifier: Apache-2.0

package evaluation

import "math"

// Confidence is the approximate probability that an interval contains the true number.
const Confidence = 0.95

// pointwise is the half-width of a single number's interval, in standard deviations.
var pointwise = normalCritical(func(c float64) float64 { return math.Erfc(c / math.Sqrt2) })

// normalCritical finds the c at which a decreasing probability of a miss equals 1 - Confidence, by
// false position in the logarithm.
func normalCritical(miss func(c float64) float64) float64 {
	off := func(c float64) float64 { return math.Log(max(miss(c), 1e-15) / (1 - Confidence)) }
	low, high := 1.9, 6.0
	atLow, atHigh := off(low), off(high)
	for range 30 {
		mid := low + (high-low)*atLow/(atLow-atHigh)
		at := off(mid)
		if math.Abs(at) < 1e-4 {
			return mid
		}
		if at > 0 { // halving what the other end says keeps both ends moving
			low, atLow, atHigh = mid, at, atHigh/2
		} else {
			high, atHigh, atLow = mid, at, atLow/2
		}
	}
	return high
}

// simultaneous is the half-width, in standard deviations, of intervals that contain all of several
// numbers together. The numbers are x·n for each of xs, of which neighbours are similar: each is
// assumed to depend on the others only through its neighbours, as in a Gaussian random walk.
func (c *counts) simultaneous(xs [][]float64) float64 {
	var steps []float64 // the correlation of each number with the one before
	last, lastVar := []float64(nil), 0.0
	for _, x := range xs {
		v := c.noise(x, x) + max(0, c.sampling(x, x))
		if !(v > 0) {
			continue
		}
		if last != nil {
			r := (c.noise(x, last) + c.sampling(x, last)) / math.Sqrt(v*lastVar)
			if r = max(0, r); 1-r*r < walkStep*walkStep {
				continue // as good as the same number
			}
			steps = append(steps, r)
		}
		last, lastVar = x, v
	}
	return normalCritical(func(z float64) float64 { return 1 - stayWithin(z, steps) })
}

// walkStep is the smallest standard deviation of a step that is simulated, and walkGrid the spacing of
// the points at which a walk's density is computed.
const (
	walkStep = 0.15
	walkGrid = 0.12
)

// stayWithin is the probability that a walk of standard normal numbers stays within ±z, given the
// correlations between neighbours. It uses the trapezoidal rule.
func stayWithin(z float64, correlations []float64) float64 {
	points := int(math.Ceil(2*z/walkGrid)) + 1
	h := 2 * z / float64(points-1)
	density, next := make([]float64, points), make([]float64, points)
	for i := range density {
		y := -z + h*float64(i)
		density[i] = math.Exp(-y*y/2) / math.Sqrt(2*math.Pi)
	}
	for _, r := range correlations {
		clear(next)
		s := math.Sqrt(1 - r*r)
		shrink := math.Exp(-h * h / (s * s))
		for i, d := range density {
			w := d * h / (s * math.Sqrt(2*math.Pi))
			if i == 0 || i == points-1 {
				w /= 2
			}
			// exp(-(y - r·x)²/2s²) from the point nearest to r·x outward, by ratios of neighbours.
			mean := r * (-z + h*float64(i))
			mid := max(0, min(points-1, int(math.Round((mean+z)/h))))
			off := -z + h*float64(mid) - mean
			for _, side := range []float64{1, -1} {
				g := w * math.Exp(-off*off/(2*s*s))
				ratio := math.Exp(-(side*2*off*h + h*h) / (2 * s * s))
				k := mid
				if side < 0 {
					g, ratio, k = g*ratio, ratio*shrink, mid-1
				}
				for k >= 0 && k < points && g > 1e-12*w {
					next[k] += g
					g, ratio = g*ratio, ratio*shrink
					k += int(side)
				}
			}
		}
		density, next = next, density
	}
	inside := 0.0
	for i, d := range density {
		if i == 0 || i == points-1 {
			d /= 2
		}
		inside += d * h
	}
	return inside
}
