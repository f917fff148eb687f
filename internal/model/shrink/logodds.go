// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Cells are noisy sums by bin: of the weights of rows of the positive class, and of the others.
type Cells struct {
	Positive, Negative []float64
	Noise              Noise
}

// Noise is the noise on the two sums of one bin.
type Noise struct {
	Positive, Negative float64 // standard deviations; 0 for none
	Gaussian           bool    // otherwise Laplace
}

// DifferenceVariance is the variance of positive − negative, and of their sum.
func (n Noise) DifferenceVariance() float64 {
	return n.Positive*n.Positive + n.Negative*n.Negative
}

// LogOdds converts cells to log-odds per bin relative to the score that determined the weights, with
// their variances. They are the posterior of the log-odds θ of each bin given its noisy cells, in a
// model with the true distribution of the noise. In this model a cell below 0 only implies that the
// bin is nearly empty, and jumps are possible, such as between no capital gain and a positive one.
//
// A bin holds weight·σ(θ) of the positive class and weight·(1−σ(θ)) of the other, with a vague prior on the weight ≥
// 0; see computeLikelihoods. The prior of θ is a random walk over ordered bins, whose jumps are small, with a Laplace
// distribution, or rarely go anywhere. The bins of a category are distributed around 0 in the same way. A pair is
// walked by rows, in alternating directions, and by columns. The size of jumps and the direction of the walk are
// averaged by their evidence. θ takes the values of a grid, for which a chain can be summed exactly (Rabiner 1989,
// section III): O(bins·grid) for each size of jumps.
func LogOdds(c *Cells, bins *feature.Bins) (steps, variance []float64) {
	if bins.Marks() > 0 { // neighbouring amounts are similar, and a mark is not similar to any amount
		at := len(c.Positive) - bins.Marks()
		amounts, marks := bins.WithoutMarks(), feature.NewGroups(bins.Column, nil, bins.Marks())
		steps, variance = LogOdds(&Cells{c.Positive[:at], c.Negative[:at], c.Noise}, &amounts)
		more, vary := LogOdds(&Cells{c.Positive[at:], c.Negative[at:], c.Noise}, &marks)
		return slices.Concat(steps, more), slices.Concat(variance, vary)
	}
	return c.withLeastNoise().averageWalks(listWalks(bins, len(c.Positive)))
}

// withLeastNoise has cells without noise count as if they had a little, so that no likelihood is a point.
func (c *Cells) withLeastNoise() *Cells {
	noise := c.Noise
	noise.Positive, noise.Negative = math.Max(noise.Positive, leastNoise), math.Max(noise.Negative, leastNoise)
	return &Cells{c.Positive, c.Negative, noise}
}

// averageWalks is LogOdds for bins with the given orders, or without an order.
func (c *Cells) averageWalks(walks [][]int) (steps, variance []float64) {
	var posteriors []posterior
	like := c.computeLikelihoods()
	for _, jump := range jumps {
		for _, order := range walks {
			posteriors = append(posteriors, like.posteriorOfWalk(jump, order))
		}
		if walks == nil {
			posteriors = append(posteriors, like.posteriorAround(jump))
		}
	}
	return averageByEvidence(posteriors)
}

// leastNoise is the assumed noise of cells without noise, in rows.
const leastNoise = 0.5

// listWalks lists the orders of the walks over the given number of bins; none if they have no order.
func listWalks(bins *feature.Bins, all int) (orders [][]int) {
	walk := func(rows, columns, down, along int) {
		order := make([]int, 0, rows*columns)
		for i := range rows {
			for j := range columns {
				if i%2 == 1 {
					j = columns - 1 - j
				}
				order = append(order, i*down+j*along)
			}
		}
		orders = append(orders, order)
	}
	if bins.Second == nil {
		if bins.Ordered() {
			walk(1, all, all, 1)
		}
		return orders
	}
	first := *bins
	first.Second = nil
	n, m := first.Len(), bins.Second.Len()
	if bins.Second.Ordered() {
		walk(n, m, m, 1)
	}
	if first.Ordered() {
		walk(m, n, 1, m)
	}
	return orders
}

// The prior of a walk. Twice as many sizes of jumps or grid values have no visible effect
// (evidence/benchmarks/default-constants.md).
var jumps = []float64{0.06, 0.25, 1} // mean sizes, nats

const (
	gridHalf = 60   // values of θ on each side of 0
	gridStep = 0.07 // nats: a step is at most 4.2 nats
	gridLen  = 2*gridHalf + 1
	anywhere = 0.004 // probability that a jump goes anywhere
)

// logOddsAt returns value g of the grid, in nats.
func logOddsAt(g int) float64 { return gridStep * float64(g-gridHalf) }

// grid holds a number for each value of θ.
type grid [gridLen]float64

// normalizeMass scales the numbers to sum 1, and returns their sum.
func (x *grid) normalizeMass() (sum float64) {
	for _, m := range x {
		sum += m
	}
	for g := range x {
		x[g] /= sum
	}
	return sum
}

// addBin records the distribution of θ in bin b.
func (p *posterior) addBin(b int, mass *grid) {
	for g, x := range mass {
		p.mean[b] += x * logOddsAt(g)
		p.square[b] += x * logOddsAt(g) * logOddsAt(g)
	}
}

// likelihoods are computeLogLikelihood of each bin on the grid, up to a factor by bin.
type likelihoods []grid

func (c *Cells) computeLikelihoods() likelihoods {
	out := make(likelihoods, len(c.Positive))
	for b := range out {
		most := math.Inf(-1)
		for g := range out[b] {
			out[b][g] = c.computeLogLikelihood(b, logOddsAt(g))
			most = math.Max(most, out[b][g])
		}
		for g, x := range out[b] {
			out[b][g] = math.Exp(x-most) + 1e-12 // no bin rules a θ out
		}
	}
	return out
}

// computeLogLikelihood is the logarithm of the likelihood of the cells of bin b if its log-odds are theta, up to a
// constant. It adds the sampling variance to that of the noise: weights are at most 1, so that a total weight w has a
// variance of at most w·share·(1−share) in either cell. The prior of the weight of a bin, in units of the noise of
// its cells, is uniform up to a unit of noise and uniform in its logarithm beyond, because most bins have much more
// or much less weight than others. As a result, two empty cells have no influence on the share, even if the classes
// have different noise, and other cells are not biased to the class with less noise.
func (c *Cells) computeLogLikelihood(b int, theta float64) float64 {
	share := sigmoid(theta)
	sampling := math.Max(c.Positive[b]+c.Negative[b], 0) * share * (1 - share)
	p := cell{c.Positive[b], math.Sqrt(c.Noise.Positive*c.Noise.Positive + sampling)}
	q := cell{c.Negative[b], math.Sqrt(c.Noise.Negative*c.Noise.Negative + sampling)}
	least := 1 / (share/c.Noise.Positive + (1-share)/c.Noise.Negative)
	if c.Noise.Gaussian {
		return integrateGaussian(p, q, share, least)
	}
	return integrateLaplace(p, q, share, least)
}

// cell is a released number and the standard deviation of its noise.
type cell struct{ value, deviation float64 }

// weightTop returns a weight above which the cells have almost no likelihood.
func weightTop(p, q cell) float64 {
	return math.Max(p.value, 0) + math.Max(q.value, 0) + 10*(p.deviation+q.deviation)
}

// integrateLaplace is the logarithm of the integral over weights w ≥ 0 of
//
//	exp(−|p − w·share|/b − |q − w·(1−share)|/c) / 4bc(w + least)
//
// where b and c are the scales of the noise. The exponent is linear between 0 and the two weights at
// which a cell has no noise; the density is taken as a step for each doubling of w + least.
func integrateLaplace(p, q cell, share, least float64) float64 {
	b, c := p.deviation/math.Sqrt2, q.deviation/math.Sqrt2
	exponent := func(w float64) float64 {
		return -math.Abs(p.value-w*share)/b - math.Abs(q.value-w*(1-share))/c
	}
	x, y := math.Max(p.value/share, 0), math.Max(q.value/(1-share), 0)
	x, y = min(x, y), max(x, y)
	most, top := max(exponent(0), exponent(x), exponent(y)), weightTop(p, q)
	from, at, sum := 0.0, exponent(0)-most, 0.0
	level := math.Exp(at)
	add := func(to, density float64) {
		next := exponent(to) - most
		nextLevel := math.Exp(next)
		area := (to - from) * level // if the exponent, which is linear here, hardly moves
		if d := next - at; math.Abs(d) > 1e-6 {
			area = (to - from) * (nextLevel - level) / d
		}
		sum += density * area
		from, at, level = to, next, nextLevel
	}
	for edge := least; from < top; edge = 2*edge + least {
		density := math.Ln2 / (edge - from)
		for _, kink := range [2]float64{x, y} {
			if kink > from && kink < edge {
				add(kink, density)
			}
		}
		add(edge, density)
	}
	density := 1 / (from + least)
	for _, kink := range [2]float64{x, y} {
		if kink > from {
			add(kink, density)
		}
	}
	sum += density * level / (share/b + (1-share)/c)
	return most + math.Log(sum/(4*b*c))
}

// integrateGaussian is integrateLaplace for normal noise, up to a constant: where the density is flat,
// the weight is normal.
func integrateGaussian(p, q cell, share, least float64) float64 {
	u, v := share/p.deviation, (1-share)/q.deviation
	x, y := p.value/p.deviation, q.value/q.deviation
	sharp := u*u + v*v
	along, across := x*u+y*v, x*v-y*u
	flat := -across*across/(2*sharp) - math.Log(p.deviation*q.deviation*math.Sqrt(sharp))
	width := math.Sqrt(2 * sharp)
	if along < -20*width { // all of it lies in the first step of the density
		return flat + logErfc(-along/width) + math.Log(math.Ln2/least)
	}
	beyond := func(w float64) float64 { return math.Erfc((w*sharp - along) / width) }
	top, sum := weightTop(p, q), 0.0
	from, left := 0.0, beyond(0)
	for edge := least; from < top; edge = 2*edge + least {
		next := beyond(edge)
		sum += math.Ln2 / (edge - from) * (left - next)
		from, left = edge, next
	}
	return flat + math.Log(sum+left/(from+least))
}

// logErfc is the logarithm of the complementary error function. It uses the asymptotic expansion if
// the function is tiny.
func logErfc(x float64) float64 {
	if x < 20 {
		return math.Log(math.Erfc(x))
	}
	return -x*x - math.Log(x*math.SqrtPi)
}

// posteriorOfWalk returns the posterior of bins in an order, for a mean size of jumps.
func (like likelihoods) posteriorOfWalk(jump float64, order []int) posterior {
	n := len(like)
	out := posterior{make([]float64, n), make([]float64, n), 0}
	upTo := make([]grid, n) // what the bins up to this one say
	for g := range upTo[0] {
		upTo[0][g] = 1.0 / gridLen
	}
	for i, b := range order {
		if i > 0 {
			upTo[i] = upTo[i-1]
			upTo[i].spreadJump(jump)
		}
		floats.Mul(upTo[i][:], like[b][:])
		out.evidence += math.Log(upTo[i].normalizeMass())
	}
	var beyond grid // what the bins beyond this one say
	for g := range beyond {
		beyond[g] = 1
	}
	for i, b := range slices.Backward(order) {
		floats.Mul(upTo[i][:], beyond[:])
		upTo[i].normalizeMass()
		out.addBin(b, &upTo[i])
		floats.Mul(beyond[:], like[b][:])
		beyond.normalizeMass()
		beyond.spreadJump(jump)
	}
	return out
}

// spreadJump applies one jump: the mass of a value is spread by a Laplace distribution, and partly
// everywhere. Two sweeps suffice, because that distribution is memoryless.
func (x *grid) spreadJump(jump float64) {
	fall := math.Exp(-gridStep / jump)
	all, left, right := 0.0, 0.0, 0.0
	var near grid
	for g, m := range x {
		all += m
		left = left*fall + m
		near[g] = left
	}
	for g := gridLen - 1; g >= 0; g-- {
		near[g] += right
		right = (right + x[g]) * fall
	}
	for g := range x {
		x[g] = (1-anywhere)*(1-fall)/(1+fall)*near[g] + anywhere*all/gridLen
	}
}

// posteriorAround returns the posterior of bins without an order, around 0, for a mean size of log-odds.
func (like likelihoods) posteriorAround(jump float64) posterior {
	var prior grid
	for g := range prior {
		prior[g] = math.Exp(-math.Abs(logOddsAt(g)) / jump)
	}
	prior.normalizeMass()
	for g := range prior {
		prior[g] = (1-anywhere)*prior[g] + anywhere/gridLen
	}
	out := posterior{make([]float64, len(like)), make([]float64, len(like)), 0}
	for b := range like {
		mass := prior
		floats.Mul(mass[:], like[b][:])
		out.evidence += math.Log(mass.normalizeMass())
		out.addBin(b, &mass)
	}
	return out
}

// posterior is the result of one prior: the posterior mean of θ and of its square, by bin.
type posterior struct {
	mean, square []float64
	evidence     float64 // logarithm of the probability of the cells under the prior, up to a constant
}

// averageByEvidence averages posteriors with the same bins, weighted by their evidence. There must be
// at least one. It returns means and variances by bin.
func averageByEvidence(posteriors []posterior) (mean, variance []float64) {
	n, best, all := len(posteriors[0].mean), math.Inf(-1), 0.0
	mean, variance = make([]float64, n), make([]float64, n) // the latter as mean squares for now
	for _, p := range posteriors {
		best = math.Max(best, p.evidence)
	}
	for _, p := range posteriors {
		weight := math.Exp(p.evidence - best)
		all += weight
		for b := range n {
			mean[b] += weight * p.mean[b]
			variance[b] += weight * p.square[b]
		}
	}
	for b := range n {
		mean[b] /= all
		variance[b] = math.Max(0, variance[b]/all-mean[b]*mean[b])
	}
	return mean, variance
}
