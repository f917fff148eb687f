// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// smooth turns cells into log-odds per bin beyond the score, with their
// variances: the mean under a law that knows what the cells went through.
// Without noise, and in pairs, that law is normal.
func smooth(c cells, bins *feature.Bins) (steps, variance []float64) {
	if c.noise.variance() == 0 || bins.Second != nil {
		return normal(c, bins)
	}
	return walk(c, bins.Ordered())
}

// walk is the posterior of the log-odds θ of each bin of a column given its noisy
// cells. Two things set it apart from normal: it knows the law of the noise, so
// that a cell below 0 says that the bin is nearly empty and no more, and it
// expects jumps, such as between no capital gain and any.
//
// A bin holds weight·σ(θ) of the positive label and weight·(1−σ(θ)) of the other,
// where nothing is known of the weight but that it is not negative; see
// likelihoods. The prior of θ is a walk over ordered bins, with jumps that are
// small, by the law of Laplace, or now and then to anywhere; the bins of a
// category lie around a common θ in the same way. How small is averaged over
// jumps by how well each explains the cells.
//
// θ takes the values of a grid, where the sums of a chain are exact (Rabiner
// 1989, section III): O(bins·grid) for each of the jumps.
func walk(c cells, ordered bool) (steps, variance []float64) {
	like := c.likelihoods()
	var laws []moments
	for _, jump := range jumps {
		if ordered {
			laws = append(laws, like.along(jump))
			continue
		}
		for _, common := range commons {
			laws = append(laws, like.around(common, jump))
		}
	}
	best := math.Inf(-1)
	for i := range laws {
		best = math.Max(best, laws[i].evidence)
	}
	n := len(like)
	steps, variance = make([]float64, n), make([]float64, n) // the latter as mean squares for now
	all := 0.0
	for i := range laws {
		weight := math.Exp(laws[i].evidence - best)
		all += weight
		for b := range n {
			steps[b] += float64(weight * laws[i].mean[b])
			variance[b] += float64(weight * laws[i].square[b])
		}
	}
	for b := range n {
		steps[b] /= all
		variance[b] = math.Max(0, variance[b]/all-float64(steps[b]*steps[b]))
	}
	return steps, variance
}

// The prior of walk. Twice as many jumps or values on the grid change nothing
// that could be seen (docs/decisions/0004-additive.md).
var (
	jumps   = []float64{0.06, 0.25, 1} // mean sizes, nats
	commons = []float64{-0.6, -0.3, 0, 0.3, 0.6}
)

const (
	gridHalf     = 60   // values of θ to both sides of 0
	gridStep     = 0.07 // nats: a step is at most 4.2 of them, as in normal
	gridLen      = 2*gridHalf + 1
	anywhere     = 0.02 // of jumps
	firstBin     = 3.0  // mean size of the log-odds of the first of ordered bins, nats
	commonSpread = 0.2  // standard deviation of the common log-odds, nats
)

// odds is value g of the grid.
func odds(g int) float64 { return gridStep * float64(g-gridHalf) }

// grid holds a number for each value of θ.
type grid [gridLen]float64

// scale makes the numbers add up to 1, and returns what they added up to.
func (x *grid) scale() (sum float64) {
	for _, m := range x {
		sum += m
	}
	for g := range x {
		x[g] /= sum
	}
	return sum
}

// times multiplies by what y has for the same θ.
func (x *grid) times(y *grid) {
	for g, m := range y {
		x[g] *= m
	}
}

// moments are those of θ under one prior, by bin.
type moments struct {
	mean, square []float64
	evidence     float64 // logarithm, up to a constant
}

func newMoments(bins int) moments {
	return moments{mean: make([]float64, bins), square: make([]float64, bins)}
}

// take notes how likely each θ is in bin b.
func (m *moments) take(b int, mass *grid) {
	for g, x := range mass {
		m.mean[b] += float64(x * odds(g))
		m.square[b] += float64(x * odds(g) * odds(g))
	}
}

// likelihoods are, by bin, those of the released cells, up to a factor.
type likelihoods []grid

// likelihoods adds to the noise what sampling adds: weights are at most 1, so of
// a weight w the variance is at most w·share·(1−share) in either cell.
func (c *cells) likelihoods() likelihoods {
	out := make(likelihoods, len(c.positive))
	for b := range out {
		weight := math.Max(c.positive[b]+c.negative[b], 0)
		logs := &out[b]
		most := math.Inf(-1)
		for g := range logs {
			share := 1 / (1 + math.Exp(-odds(g)))
			sampling := weight * share * (1 - share)
			p := cell{c.positive[b], math.Sqrt(float64(c.noise.positive*c.noise.positive) + sampling)}
			q := cell{c.negative[b], math.Sqrt(float64(c.noise.negative*c.noise.negative) + sampling)}
			if c.noise.gaussian {
				logs[g] = gaussian(p, q, share)
			} else {
				logs[g] = laplace(p, q, share)
			}
			most = math.Max(most, logs[g])
		}
		for g, x := range logs {
			out[b][g] = math.Exp(x-most) + 1e-12 // no bin rules a θ out
		}
	}
	return out
}

// cell is a released number and the deviation of its noise.
type cell struct{ value, deviation float64 }

// laplace is the logarithm of the integral over weights w ≥ 0 of
//
//	exp(−|p − w·share|/b − |q − w·(1−share)|/c) / 4bc
//
// b and c being the scales of the noise. The exponent is linear between 0 and the
// two weights at which a cell has no noise.
func laplace(p, q cell, share float64) float64 {
	b, c := p.deviation/math.Sqrt2, q.deviation/math.Sqrt2
	exponent := func(w float64) float64 {
		return -math.Abs(p.value-float64(w*share))/b - math.Abs(q.value-float64(w*(1-share)))/c
	}
	x, y := math.Max(p.value/share, 0), math.Max(q.value/(1-share), 0)
	x, y = min(x, y), max(x, y)
	at0, atX, atY := exponent(0), exponent(x), exponent(y)
	most := max(at0, atX, atY)
	at0, atX, atY = at0-most, atX-most, atY-most
	return most + math.Log((segment(at0, atX, x)+segment(atX, atY, y-x)+math.Exp(atY)/(share/b+(1-share)/c))/(4*b*c))
}

// segment is the integral of exp over a length in which the exponent goes from
// one value to another in a line.
func segment(from, to, length float64) float64 {
	if d := to - from; math.Abs(d) > 1e-6 {
		return length * (math.Exp(to) - math.Exp(from)) / d
	}
	return length * math.Exp(from)
}

// gaussian is the same for normal noise, up to a constant: the integral over
// w ≥ 0 of a normal density in w.
func gaussian(p, q cell, share float64) float64 {
	u, v := share/p.deviation, (1-share)/q.deviation
	x, y := p.value/p.deviation, q.value/q.deviation
	sharp := float64(u*u) + float64(v*v)
	along, across := float64(x*u)+float64(y*v), float64(x*v)-float64(y*u)
	return -float64(across*across)/(2*sharp) - math.Log(sharp)/2 - math.Log(p.deviation*q.deviation) + logErfc(-along/math.Sqrt(2*sharp))
}

// logErfc is the logarithm of the complementary error function, by its
// asymptotic expansion where that is tiny.
func logErfc(x float64) float64 {
	if x < 20 {
		return math.Log(math.Erfc(x))
	}
	return -float64(x*x) - math.Log(x*math.SqrtPi)
}

// along is the posterior of ordered bins whose jumps have this mean size.
func (like likelihoods) along(jump float64) moments {
	n := len(like)
	out := newMoments(n)
	upTo := make([]grid, n) // what the bins up to this one say
	for g := range upTo[0] {
		upTo[0][g] = math.Exp(-math.Abs(odds(g)) / firstBin)
	}
	upTo[0].scale()
	for b := range n {
		if b > 0 {
			upTo[b] = upTo[b-1]
			upTo[b].spread(jump)
		}
		upTo[b].times(&like[b])
		out.evidence += math.Log(upTo[b].scale())
	}
	var beyond grid // what the bins beyond this one say
	for g := range beyond {
		beyond[g] = 1
	}
	for b := n - 1; b >= 0; b-- {
		upTo[b].times(&beyond)
		upTo[b].scale()
		out.take(b, &upTo[b])
		beyond.times(&like[b])
		beyond.scale()
		beyond.spread(jump)
	}
	return out
}

// spread is one jump: what a value holds goes to others by the law of Laplace,
// and to anywhere. Two sweeps, since that law forgets where it came from.
func (x *grid) spread(jump float64) {
	fall := math.Exp(-gridStep / jump)
	all, left, right := 0.0, 0.0, 0.0
	var near grid
	for g, m := range x {
		all += m
		left = float64(left*fall) + m
		near[g] = left
	}
	for g := gridLen - 1; g >= 0; g-- {
		near[g] += right
		right = (right + x[g]) * fall
	}
	for g := range x {
		x[g] = float64((1-anywhere)*(1-fall)/(1+fall)*near[g]) + anywhere*all/gridLen
	}
}

// around is the posterior of bins that lie around a common value, with offsets of
// this mean size.
func (like likelihoods) around(common, jump float64) moments {
	var prior grid
	for g := range prior {
		prior[g] = math.Exp(-math.Abs(odds(g)-common) / jump)
	}
	prior.scale()
	for g := range prior {
		prior[g] = float64((1-anywhere)*prior[g]) + anywhere/gridLen
	}
	out := newMoments(len(like))
	out.evidence = -common * common / (2 * commonSpread * commonSpread)
	for b := range like {
		mass := prior
		mass.times(&like[b])
		out.evidence += math.Log(mass.scale())
		out.take(b, &mass)
	}
	return out
}
