// SPDX-License-Identifier: Apache-2.0

package evaluation

import "math"

// counts are noisy numbers of rows by cell, and what is known about their errors.
type counts struct {
	n        []float64
	variance float64 // of the noise on each count, before sums were fixed
	held     [][]int // cells whose sum is public
}

// holdSums moves the counts to the nearest ones that have the given sums over each set of cells in
// held.
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

// project removes from x the part that the fixed sums determine. The noise on x·n has the variance
// c.variance times the squared length of the result.
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

// noise returns the covariance of x·n and y·n due to noise.
func (c *counts) noise(x, y []float64) float64 { return c.variance * dot(c.project(x), y) }

// sampling returns the covariance of x·n and y·n due to the drawing of rows, if both have a mean near
// 0.
func (c *counts) sampling(x, y []float64) (sum float64) {
	for i, n := range c.n {
		sum += n * x[i] * y[i]
	}
	return sum
}

// quadratic is c0 + c1·θ + c2·θ².
type quadratic [3]float64

func (q quadratic) at(t float64) float64 { return q[0] + t*(q[1]+t*q[2]) }

// spread returns the quadratic form of a covariance at a - θ·b.
func spread(cov func(x, y []float64) float64, a, b []float64) quadratic {
	return quadratic{cov(a, a), -2 * cov(a, b), cov(b, b)}
}

// question asks for θ, given two noisy numbers whose true values satisfy first = θ·second. The
// variance of first - θ·second is noise(θ) + sampling(θ) + width².
type question struct {
	first, second   float64
	noise, sampling quadratic
	width           float64 // standard deviation of first due to the width of cells
	share           bool    // first counts some of second's rows
	low, high       float64 // bounds of θ
}

// ratio asks for a·n / b·n.
func (c *counts) ratio(a, b []float64, low, high float64) question {
	return question{first: dot(a, c.n), second: dot(b, c.n), noise: spread(c.noise, a, b),
		sampling: spread(c.sampling, a, b), low: low, high: high}
}

// shareOf asks for the share of the rows in b that are also in a. All numbers are 0 or 1, and a is 1
// only if b is.
func (c *counts) shareOf(a, b []float64) question {
	q := c.ratio(a, b, 0, 1)
	q.share = true
	return q
}

// variance returns the variance of first - θ·second.
func (q *question) variance(t float64) float64 {
	sampled := max(0, q.sampling.at(t))
	if q.share { // as if θ were true, so that a share of 0 or 1 is not taken for sure
		sampled = max(0, q.second) * t * (1 - t)
	}
	return max(0, q.noise.at(t)) + sampled + q.width*q.width
}

// Estimate is a number and the interval that contains the true one. If there is no Value, nothing is
// known, and the interval is all of [Low, High].
type Estimate struct {
	Value, Low, High float64
	Known            bool // there is a value
}

// estimate returns θ, with the interval of every θ that is at most critical standard deviations from
// the counts (Fieller 1954).
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
	if e.Known { // counts beyond a limit may allow what is near it and not the limit itself
		e.Value = min(e.High, max(e.Low, e.Value))
	}
	return e
}

// border finds the point between in, which is accepted, and out, at which accepted changes.
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
