// SPDX-License-Identifier: Apache-2.0

package accounting

import "math"

// unit is the largest relative error of one float64 operation. A few units bound the error of each
// formula below. The standard library's exp, log and erfc are accurate to two units.
const unit = 0x1p-53

// underflow exceeds anything that float64 loses to underflow.
const underflow = 1e-300

// spread collects a loss on the grid anchor + i·h, i = low..high.
//
// Mass between two grid points is moved to both of them, so that the masses under P and under Q are
// preserved: the ratio Q/P undergoes a mean-preserving spread, and δ(ε) = E_P[(1 − e^ε·Q/P)⁺], convex
// in Q/P, can only grow, alone and in every composition ("connect the dots", Doroshenko et al. 2022).
// Rounding errors are resolved by adding mass or moving it up, which can only increase δ.
type spread struct {
	anchor, h float64
	low       int
	mass      []float64
	slack     float64
}

func newSpread(anchor, h float64, low, high int) *spread {
	reach := math.Abs(anchor) + h*math.Max(math.Abs(float64(low)), math.Abs(float64(high)))
	return &spread{anchor, h, low, make([]float64, high-low+1), 8 * unit * reach} // 1.1
}

func (s *spread) gridPoint(i int) float64 { return s.anchor + float64(i)*s.h }

// addAt adds mass p at grid point i.
func (s *spread) addAt(i int, p float64) { s.mass[i-s.low] += p * (1 + 4*unit) }

// addAtom adds mass p at a loss l between the grid's ends. l itself is known up to the grid's slack.
func (s *spread) addAtom(l, p float64) {
	i := int(math.Floor((l - s.anchor) / s.h))
	i = min(max(i, s.low), s.low+len(s.mass)-2)
	t := min(max(l-s.gridPoint(i), 0), s.h)
	// All the mass sits at t above the lower point: Q/P = e^-t there.
	s.addBetween(i, p, math.Expm1(-t)/math.Expm1(-s.h)+s.slack/s.h)
}

// addBetween adds mass p: the fraction up of it at point i+1 and the rest at i.
func (s *spread) addBetween(i int, p, up float64) { // 1.2
	up = min(max(up+8*unit, 0), 1)
	s.mass[i+1-s.low] += p * up * (1 + 4*unit)
	s.mass[i-s.low] += p * ((1 - up) + 4*unit)
}

// mostPoint is a loss whose exponential is finite.
const mostPoint = 600

// addBucket adds the mass between points i and i+1: at most p under P, at least q under Q.
func (s *spread) addBucket(i int, p, q float64) {
	if !(p > 0) {
		return
	}
	// up·e^-h + (1 − up) = (q/p)·e^point(i), solved for up.
	ratio := 0.0
	if s.gridPoint(i) < mostPoint { // beyond, e^point leaves float64
		ratio = q / p * math.Exp(s.gridPoint(i)) * (1 - 8*unit*(2+math.Abs(s.gridPoint(i))))
	}
	s.addBetween(i, p, (1-ratio)/-math.Expm1(-s.h)*(1+8*unit))
}

func (s *spread) lossOf(infinite float64) loss {
	return loss{first: s.gridPoint(s.low), mass: s.mass, infinite: infinite, slack: s.slack}
}
