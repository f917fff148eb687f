// SPDX-License-Identifier: Apache-2.0

package frame

import "math"

// AtLeast is the one-sided lower confidence bound of the mean, by Student's t:
// the true mean lies below it in a share miss of all experiments, miss in
// (0, 1/2). It is -Inf for fewer than two repeats.
func (s Stat) AtLeast(miss float64) float64 {
	if s.N < 2 {
		return math.Inf(-1)
	}
	return s.Mean - studentUpper(miss, s.N-1)*s.StdErr
}

// AtMost is the upper bound that mirrors AtLeast.
func (s Stat) AtMost(miss float64) float64 {
	if s.N < 2 {
		return math.Inf(1)
	}
	return s.Mean + studentUpper(miss, s.N-1)*s.StdErr
}

// miss is how often IsAbove may err.
const miss = 0.05

// IsAbove says whether the mean exceeds x beyond chance: its one-sided lower bound
// of 95 % confidence does. What papers call "exceeds" is read so.
func (s Stat) IsAbove(x float64) bool { return s.AtLeast(miss) > x }

// studentUpper is the t that a Student variable with df degrees of freedom
// exceeds with probability tail < 1/2, by bisection.
func studentUpper(tail float64, df int) float64 {
	lo, hi := 0.0, 1.0
	for studentTail(hi, df) > tail {
		hi *= 2
	}
	for range 80 {
		if mid := (lo + hi) / 2; studentTail(mid, df) > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// studentTail is P(X > t) for t ≥ 0: the finite sums that integrate the density
// for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func studentTail(t float64, df int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(angle)
	inside := 0.0 // P(|X| < t)
	if df%2 == 1 {
		term, sum := cos, 0.0
		for k := 3; k <= df; k += 2 {
			sum += term
			term *= cos * cos * float64(k-1) / float64(k)
		}
		inside = 2 / math.Pi * (angle + sin*sum)
	} else {
		term, sum := 1.0, 0.0
		for k := 2; k <= df; k += 2 {
			sum += term
			term *= cos * cos * float64(k-1) / float64(k)
		}
		inside = sin * sum
	}
	return (1 - inside) / 2
}
