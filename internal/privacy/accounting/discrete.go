// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

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
