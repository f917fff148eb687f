// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Pure is the pair of any (ε, 0)-DP mechanism: binary randomised response (Kairouz, Oh, Viswanath
// 2015). It fits permute-and-flip selection, and Laplace noise on a vector of unknown length.
func Pure(eps dp.Epsilon) (Pair, error) { return Approximate(eps, 0) }

// Approximate is the pair of any (ε, δ)-DP mechanism: with probability δ everything is revealed,
// otherwise it is Pure.
func Approximate(eps dp.Epsilon, delta float64) (Pair, error) {
	if err := checkEpsilon("approximate", eps); err != nil {
		return Pair{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Pair{}, dp.Refuse("approximate", "delta", "must be at least 0 and below 1", delta)
	}
	e := floatAbove(eps)
	return Pair{remove: coins{e, []atom{{e, (1 - delta) / (1 + math.Exp(-e))}, {-e, (1 - delta) / (1 + math.Exp(e))}},
		delta}}, nil
}

// atom is a mass p at the loss l.
type atom struct{ l, p float64 }

// coins is a loss with few values; top is the largest.
type coins struct {
	top      float64
	atoms    []atom
	infinite float64
}

func (c coins) lossShape() (deviation, length, gap float64) {
	var mean, square float64
	least := c.top
	for _, a := range c.atoms {
		mean += a.l * a.p
		square += a.l * a.l * a.p
		least = min(least, a.l)
	}
	gap = c.top - least
	return math.Sqrt(max(square-mean*mean, 0)), gap, gap
}

func (c coins) discretise(h float64) loss {
	_, _, gap := c.lossShape()
	s := newSpread(c.top, h, -stepsFor(gap, h), 0)
	for _, a := range c.atoms {
		p := a.p * (1 + 16*unit*(1+math.Abs(a.l)))
		if a.l == c.top { // exact: the largest loss stays the largest
			s.addAt(0, p)
		} else {
			s.addAtom(a.l, p)
		}
	}
	return s.lossOf(c.infinite)
}

// stepsFor returns the number of grid steps that cover a length, tolerating rounding errors; at least
// 1.
func stepsFor(length, h float64) int { return max(int(math.Ceil(length/h*(1-0x1p-40))), 1) }

// floatAbove returns ε as a float64, rounded up.
func floatAbove(eps dp.Epsilon) float64 { return math.Nextafter(eps.Float(), math.Inf(1)) }

func checkEpsilon(op string, eps dp.Epsilon) error {
	if eps < 1 || eps > maxPairEpsilon {
		return dp.Refuse(op, "epsilon", fmt.Sprintf("must be at least 1e-9 and at most %s", maxPairEpsilon), eps)
	}
	return nil
}

// maxPairEpsilon keeps e^ε within the range of float64.
const maxPairEpsilon = 300 * dp.Epsilon(dp.Nano)
