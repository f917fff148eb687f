// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Pairs that no learner releases by, and ε as a function of δ: composition is held
// against what is known of them, by closed forms and by other libraries.

// Laplace is the pair of Laplace noise of scale sensitivity/ε on one number.
// For a vector use Pure.
func Laplace(eps dp.Epsilon) (Pair, error) {
	if err := checkEpsilon("laplace", eps); err != nil {
		return Pair{}, err
	}
	e := floatAbove(eps)
	return Pair{remove: ramp{top: e, density: math.Exp(-e/2) / 4, head: 0.5, foot: math.Exp(-e) / 2}}, nil
}

// RandomisedResponse is the pair of a mechanism that tells one of k answers,
// the true one e^ε times as often as each other.
func RandomisedResponse(eps dp.Epsilon, k int) (Pair, error) {
	if err := checkEpsilon("randomised response", eps); err != nil {
		return Pair{}, err
	}
	if k < 2 {
		return Pair{}, &dp.ParamError{Op: "randomised response", Param: "answers", Want: "must be at least 2", Got: k}
	}
	e := floatAbove(eps)
	others := float64(k-1) * math.Exp(-e) // of all wrong answers, against 1 of the truth
	atoms := []atom{{e, 1 / (1 + others)}, {0, float64(k-2) * math.Exp(-e) / (1 + others)},
		{-e, math.Exp(-e) / (1 + others)}}
	return Pair{remove: coins{e, atoms, 0}}, nil
}

// Epsilon is ε(δ): the composition is (Epsilon(δ), δ)-DP for every δ in [0, 1).
// It is +Inf when no finite ε is known to do, and for a δ that is negative or
// not a number.
func (c *Composition) Epsilon(delta float64) float64 {
	if !(delta >= 0) {
		return math.Inf(1)
	}
	worst := 0.0
	for _, s := range c.orders {
		worst = max(worst, s.epsilonAt(delta))
	}
	return worst
}

func (s *sum) epsilonAt(delta float64) float64 {
	if delta >= 1 {
		return 0
	}
	switch {
	case delta < s.infinite:
		return math.Inf(1)
	case delta-s.infinite < underflow: // what float64 cannot tell from none
		return max(s.largestLoss()+s.slack, 0) * (1 + 8*unit)
	}
	want := math.Log(delta - s.infinite)
	theta := s.solveTheta(func(theta, value, mean float64) bool { return value-theta*mean-math.Log1p(theta) > want })
	t := s.tiltBy(theta)
	// t.delta falls as ε grows; hi always satisfies the requirement.
	lo, hi := 0.0, max(s.largestLoss(), 0)
	for _, guess := range []float64{0, t.centre - 2*t.deviation, t.centre, t.centre + 2*t.deviation} {
		switch {
		case guess < lo || guess >= hi:
		case t.boundDelta(guess) <= delta:
			hi = guess
		default:
			lo = guess
		}
	}
	for hi-lo > 1e-10*hi {
		mid := lo + (hi-lo)/2
		if t.boundDelta(mid) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return (hi + s.slack) * (1 + 8*unit)
}

// Poisson samples rows: each is taken with the same probability, independently
// of all others. Amplification is a method of the sampler and of nothing else:
// anyone who takes rows another way (a shuffled batch, a fixed number without
// replacement) has no Poisson to ask and pays the full price.
//
// Relation: add-remove only. The zero value takes no row.
type Poisson struct{ taken, of uint64 }

// PoissonOf samples with probability taken/of.
func PoissonOf(taken, of uint64) (Poisson, error) {
	if taken < 1 || taken >= of || of > 1<<32 || of/taken > 1<<24 {
		return Poisson{}, &dp.ParamError{Op: "poisson sampling", Param: "rate",
			Want: "must be a fraction above 2^-24 and below 1 whose denominator is at most 2^32", Got: [2]uint64{taken, of}}
	}
	return Poisson{taken, of}, nil
}

// Takes decides about one row. below draws a whole number from 0..n-1
// uniformly, as rng.Below does; it must be called afresh for every row of every
// step.
func (p Poisson) Takes(below func(n uint64) uint64) bool { return below(p.of) < p.taken }

// Gaussian is the pair of Gaussian noise of price ρ, sensitivity counted for the
// presence of one row, on a sum over the rows that p takes (Zhu, Dong, Wang
// 2022, Theorem 11).
func (p Poisson) Gaussian(rho dp.Rho) (Pair, error) {
	if err := checkRho("subsampled gaussian", rho); err != nil {
		return Pair{}, err
	}
	if p.taken == 0 {
		return Pair{}, &dp.ParamError{Op: "subsampled gaussian", Param: "sampler", Want: "must come from PoissonOf"}
	}
	rate := float64(p.taken) / float64(p.of) * (1 + 2*unit)
	mu := meanShift(rho)
	return Pair{remove: normals{mu, rate, true}, add: normals{mu, rate, false}}, nil
}

// DiscreteLaplace is the pair of noise P[x] ∝ exp(−|x|/scale) on the integers,
// added to one integer that neighbours move by at most sensitivity.
func DiscreteLaplace(sensitivity int64, scale float64) (Pair, error) {
	if err := checkInteger("discrete laplace", sensitivity, scale); err != nil {
		return Pair{}, err
	}
	e := float64(sensitivity) / scale
	if !(e >= 1e-9 && e <= maxPairEpsilon.Float()) {
		return Pair{}, &dp.ParamError{Op: "discrete laplace", Param: "scale",
			Want: "must make sensitivity/scale at least 1e-9 and at most " + maxPairEpsilon.String(), Got: scale}
	}
	return Pair{remove: staircase{float64(sensitivity), scale}}, nil
}

// staircase is the loss of discrete Laplace noise: for −x ≥ 0 it is moved/scale,
// for x ≥ moved the opposite, and (moved−2x)/scale between.
type staircase struct{ moved, scale float64 }

func (s staircase) lossShape() (deviation, length, gap float64) {
	e := s.moved / s.scale
	return min(e, 2), 2 * e, 2 * e
}

// massBetween is the probability of from ≤ x < to, 0 ≤ from ≤ to ≤ ∞.
func (s staircase) massBetween(from, to float64) float64 {
	return math.Exp(-from/s.scale) * -math.Expm1(-(to-from)/s.scale) / (1 + math.Exp(-1/s.scale))
}

func (s staircase) discretise(h float64) loss {
	top := s.moved / s.scale * (1 + 2*unit)
	n := stepsFor(2*top, h)
	g := newSpread(top, h, -n, 0)
	more := 1 + 32*unit*(1+top)
	g.addAt(0, more/(1+math.Exp(-1/s.scale)))
	g.addAtom(-top, more*s.massBetween(s.moved, math.Inf(1)))
	if s.moved <= 1<<17 { // one by one
		for x := 1.0; x < s.moved; x++ {
			g.addAtom((s.moved-2*x)/s.scale, more*s.massBetween(x, x+1))
		}
		return g.lossOf(0)
	}
	for i, from := -1, 1.0; from < s.moved; i-- { // all x whose loss is at least that of point i
		to := s.moved
		if i > -n {
			to = min(max(math.Floor((s.moved-g.gridPoint(i)*s.scale)/2)+1, from), s.moved)
		}
		if to == from {
			continue
		}
		// Which of the two neighbouring buckets holds an x at a boundary is a
		// matter of rounding: it moves a loss by less than the slack. Q is P
		// mirrored at moved/2.
		g.addBucket(max(i, -n), more*s.massBetween(from, to), s.massBetween(s.moved-to+1, s.moved-from+1)/more*(1-2*g.slack))
		from = to
	}
	return g.lossOf(0)
}

// DiscreteGaussian is the pair of noise P[x] ∝ exp(−x²/(2σ²)) on the integers,
// added to one integer that neighbours move by at most sensitivity. Noise on a
// fine grid, or on a vector, is priced by Gaussian.
func DiscreteGaussian(sensitivity int64, sigma float64) (Pair, error) {
	if err := checkInteger("discrete gaussian", sensitivity, sigma); err != nil {
		return Pair{}, err
	}
	if !(sigma >= 0.1 && sigma <= 1<<13) {
		return Pair{}, &dp.ParamError{Op: "discrete gaussian", Param: "sigma", Want: "must be at least 0.1 and at most 8192",
			Got: sigma, Hint: "on a finer grid the price is that of Gaussian"}
	}
	if r := float64(sensitivity) / sigma; !(r <= 40) {
		return Pair{}, &dp.ParamError{Op: "discrete gaussian", Param: "sensitivity", Want: "must be at most 40 sigma",
			Got: sensitivity}
	}
	return Pair{remove: bell{float64(sensitivity), sigma}}, nil
}

// bell is the loss of discrete Gaussian noise: (moved² − 2·moved·x)/(2σ²).
type bell struct{ moved, sigma float64 }

func (b bell) lossShape() (deviation, length, gap float64) {
	mu := b.moved / b.sigma
	return mu, mu * (2*tailReach + mu), 0
}

func (b bell) discretise(h float64) loss {
	at := func(x float64) float64 { return (b.moved - 2*x) * b.moved / (2 * b.sigma * b.sigma) }
	weight := func(x float64) float64 { return math.Exp(-x * x / (2 * b.sigma * b.sigma)) }
	reach := math.Ceil(tailReach * b.sigma)
	sum := 0.0
	for x := reach; x > 0; x-- {
		sum += 2 * weight(x)
	}
	sum++ // terms left out only make it smaller, hence the masses larger
	more := 1 + unit*(4*reach+2*tailReach*tailReach)
	g := newSpread(0, h, int(math.Floor(at(reach)/h))-1, int(math.Ceil(at(-reach)/h))+1)
	g.slack += 8 * unit * at(-reach)
	for x := -reach; x <= reach; x++ {
		g.addAtom(at(x), more*weight(x)/sum)
	}
	// Each tail beyond reach: at most e^(-reach²/2σ²), as the moment generating
	// function is at most the normal one (Canonne, Kamath, Steinke 2020).
	beyond := more * weight(reach)
	g.addAt(g.low, beyond)
	return g.lossOf(beyond)
}

func checkInteger(op string, sensitivity int64, scale float64) error {
	switch {
	case sensitivity < 1 || sensitivity > 1<<52:
		return &dp.ParamError{Op: op, Param: "sensitivity", Want: "must be at least 1 and at most 2^52", Got: sensitivity}
	case !(scale > 0) || math.IsInf(scale, 1):
		return &dp.ParamError{Op: op, Param: "scale", Want: "must be finite and > 0", Got: scale}
	}
	return nil
}
