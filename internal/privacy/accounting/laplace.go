// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Exponential is the pair of the exponential mechanism sized by the spread of
// the scores' changes, and of any ε-bounded-range mechanism: between neighbours
// the loss stays within one interval of length ε. It is cheaper than Pure.
func Exponential(eps dp.Epsilon) (Pair, error) {
	if err := checkEpsilon("exponential", eps); err != nil {
		return Pair{}, err
	}
	e := floatAbove(eps)
	// Over losses in [t−ε, t], δ_t(α) = (e^ε−e^t)(1−e^(α−t))/(e^ε−1) for α ≤ t
	// (Dong, Durfee, Rogers 2020); the maximum over t, at t = (ε+α)/2, is
	// (e^(ε/2)−e^(α/2))²/(e^ε−1), whose loss has the density below.
	return Pair{remove: ramp{top: e, density: math.Exp(-e/2) / 2 / -math.Expm1(-e)}}, nil
}

// ramp is a loss with density density·e^(l/2) for |l| < top and atoms at both ends. Under Q it is
// mirrored.
type ramp struct{ top, density, head, foot float64 }

func (r ramp) lossShape() (deviation, length, gap float64) {
	return min(r.top/2, 2), 2 * r.top, 2 * r.top
}

func (r ramp) discretise(h float64) loss {
	n := stepsFor(2*r.top, h)
	s := newSpread(r.top, h, -n, 0)
	s.addAt(0, r.head*(1+16*unit))
	s.addAtom(-r.top, r.foot*(1+16*unit*(1+r.top)))
	for i := -1; i > -n; i-- {
		// Exactly the density's integral, whose upper half under P is its lower
		// half under Q: up = (1 − e^(-h/2))/(1 − e^-h).
		p := 2 * r.density * math.Exp(s.gridPoint(i)/2) * math.Expm1(h/2)
		s.addBetween(i, p*(1+16*unit*(2+r.top)), 1/(1+math.Exp(-h/2)))
	}
	// The lowest bucket begins at -top, within the grid's last step.
	end := s.gridPoint(1 - n)
	mass := func(from, width float64) float64 { return 2 * r.density * math.Exp(from/2) * math.Expm1(width/2) }
	more := 1 + 16*unit*(2+r.top)
	s.addBucket(-n, mass(-r.top, max(end+r.top, 0)+s.slack)*more, mass(-end, max(end+r.top-s.slack, 0))/more)
	return s.lossOf(0)
}
