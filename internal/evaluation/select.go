// SPDX-License-Identifier: Apache-2.0

package evaluation

import "math"

// Confidence is how often an interval holds the true number, at least about so.
const Confidence = 0.95

// pointwise is how many standard deviations an interval of one number reaches.
var pointwise = normalCritical(func(c float64) float64 { return math.Erfc(c / math.Sqrt2) })

// normalCritical is the c at which a decreasing chance of a miss is 1 - Confidence.
func normalCritical(miss func(c float64) float64) float64 {
	low, high := 0.0, 10.0
	for range 60 {
		if mid := (low + high) / 2; miss(mid) > 1-Confidence {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// simultaneous is how many standard deviations intervals of several numbers reach so that together
// they hold all true ones. The numbers are x·n for each of xs, neighbours alike. The path of their
// normal limit on the sphere is as long as the angles between neighbours, and crosses a cap of the
// sphere so often (Naiman 1986); no more than separate numbers miss (Bonferroni).
func (c *counts) simultaneous(xs [][]float64) float64 {
	length, last, lastVar := 0.0, []float64(nil), 0.0
	numbers := 0
	for _, x := range xs {
		v := c.noise(x, x) + max(0, c.sampling(x, x))
		if !(v > 0) {
			continue
		}
		numbers++
		if last != nil {
			cos := (c.noise(x, last) + c.sampling(x, last)) / math.Sqrt(v*lastVar)
			length += math.Acos(max(-1, min(1, cos)))
		}
		last, lastVar = x, v
	}
	if numbers == 0 {
		return pointwise
	}
	return normalCritical(func(z float64) float64 {
		one := math.Erfc(z / math.Sqrt2)
		return min(float64(numbers)*one, one+length/math.Pi*math.Exp(-z*z/2))
	})
}
