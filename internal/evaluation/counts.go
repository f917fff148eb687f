// SPDX-License-Identifier: Apache-2.0

package evaluation

import "math"

// counts are noisy numbers of rows by cell, and what is known of their errors.
type counts struct {
	n        []float64
	variance float64 // of the noise on each, before the sums below were held
	held     [][]int // cells whose sum is public
}

// holdSums moves the counts to the nearest ones whose sums over each of held are what they should be.
func (c *counts) holdSums(held [][]int, sums []float64) {
	c.held = held
	for q, cells := range held {
		off := sums[q]
		for _, i := range cells {
			off -= c.n[i]
		}
		for _, i := range cells {
			c.n[i] += off / float64(len(cells))
		}
	}
}

// project takes from x what noise on sums that are held would add: the noise on x·n has the variance
// c.variance times the squared length of what is left.
func (c *counts) project(x []float64) []float64 {
	out := append([]float64(nil), x...)
	for _, cells := range c.held {
		mean := 0.0
		for _, i := range cells {
			mean += x[i] / float64(len(cells))
		}
		for _, i := range cells {
			out[i] -= mean
		}
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// noise is the covariance of x·n and y·n that comes from noise.
func (c *counts) noise(x, y []float64) float64 { return c.variance * dot(c.project(x), y) }

// sampling is the covariance of x·n and y·n that comes from drawing the rows, if both are near 0.
func (c *counts) sampling(x, y []float64) (sum float64) {
	for i, n := range c.n {
		sum += n * x[i] * y[i]
	}
	return sum
}

// quadratic is c0 + c1·θ + c2·θ².
type quadratic [3]float64

func (q quadratic) at(t float64) float64 { return q[0] + t*(q[1]+t*q[2]) }

// spread is the quadratic form of a covariance at a - θ·b.
func spread(cov func(x, y []float64) float64, a, b []float64) quadratic {
	return quadratic{cov(a, a), -2 * cov(a, b), cov(b, b)}
}

// question asks for θ from two noisy numbers of which the first is θ times the second in truth:
// first - θ·second has the variance noise(θ) + sampling(θ) + width².
type question struct {
	first, second   float64
	noise, sampling quadratic
	width           float64 // of first, from the width of cells, as a standard deviation
	share           bool    // first counts some of second's rows
	low, high       float64 // of θ, in any case
}

// ratio asks for a·n / b·n.
func (c *counts) ratio(a, b []float64, low, high float64) question {
	return question{first: dot(a, c.n), second: dot(b, c.n), noise: spread(c.noise, a, b),
		sampling: spread(c.sampling, a, b), low: low, high: high}
}

// shareOf asks which share of the rows in b those in a are. All numbers are 0 or 1, a's where b's are.
func (c *counts) shareOf(a, b []float64) question {
	q := c.ratio(a, b, 0, 1)
	q.share = true
	return q
}

// variance is that of first - θ·second.
func (q *question) variance(t float64) float64 {
	sampled := max(0, q.sampling.at(t))
	if q.share { // as if θ were true, so that a share of 0 or 1 is not taken for sure
		sampled = max(0, q.second) * t * (1 - t)
	}
	return max(0, q.noise.at(t)) + sampled + q.width*q.width
}

// Estimate is a number and the interval that holds the true one. The interval is [Low, High] even
// if there is no Value: nothing is known then.
type Estimate struct {
	Value, Low, High float64
	Known            bool // there is a value
}

// estimate is θ, and every θ that is at most critical standard deviations from the counts (Fieller
// 1954), from the lowest to the highest.
func (q *question) estimate(critical float64) Estimate {
	e := Estimate{Low: q.low, High: q.high}
	if q.second > 0 {
		e.Value, e.Known = min(q.high, max(q.low, q.first/q.second)), true
	}
	accepted := func(t float64) bool {
		d := q.first - t*q.second
		return d*d <= critical*critical*q.variance(t)
	}
	const steps = 512
	lowest, highest := math.Inf(1), math.Inf(-1)
	see := func(t float64) {
		if accepted(t) {
			lowest, highest = min(lowest, t), max(highest, t)
		}
	}
	at := func(k int) float64 { return q.low + (q.high-q.low)*float64(k)/steps }
	for k := range steps + 1 {
		see(at(k))
	}
	if e.Known {
		see(e.Value)
	}
	if lowest > highest { // the counts are beyond what any θ allows: the nearest
		e.Low, e.High = e.Value, e.Value
		return e
	}
	e.Low = border(accepted, lowest, max(q.low, lowest-(q.high-q.low)/steps))
	e.High = border(accepted, highest, min(q.high, highest+(q.high-q.low)/steps))
	return e
}

// border is where accepted ends between in, which is accepted, and out.
func border(accepted func(float64) bool, in, out float64) float64 {
	if accepted(out) {
		return out
	}
	for range 40 {
		if mid := (in + out) / 2; accepted(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return in
}
