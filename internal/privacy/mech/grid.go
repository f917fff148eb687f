// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// A grid is the lattice on which a mechanism works. It is derived from public numbers alone: steps of
// g = 2^exp, about 2^40 of them per noise scale. Values are rounded to it once and noise is a whole
// number of steps, so that every output is an integer multiple of g for any data. Low-order bits
// therefore carry no information (Mironov 2012).
type grid struct {
	exp   int
	scale uint64 // noise scale in steps, rounded up
}

// gridBits sets g = 2^(⌈log2(sens/ε)⌉ - gridBits).
const gridBits = 40

// gridFor makes a grid for noise of scale sens/ε. slack bounds, in steps, how much rounding to the
// grid can change a difference between neighbours.
//
// scale = ⌈(⌈sens/g⌉ + slack)·1e9/ε_nano⌉: it rounds up twice, so that the actual loss,
// (⌈sens/g⌉+slack)/scale, is at most ε.
func gridFor(eps dp.Epsilon, sens float64, slack uint64) grid {
	_, e := math.Frexp(sens / eps.Float()) // sens/ε in [2^(e-1), 2^e)
	g := grid{exp: e - gridBits}
	steps := uint64(math.Ceil(math.Ldexp(sens, -g.exp))) + slack // < 2^51: Ldexp is exact
	hi, lo := bits.Mul64(steps, dp.Nano)
	q, r := bits.Div64(hi, lo, uint64(eps))
	if r > 0 {
		q++
	}
	g.scale = q
	return g
}

// stepSize returns g.
func (g grid) stepSize() float64 { return math.Ldexp(1, g.exp) }

// roundToGrid returns the integer nearest to v/g, exactly; halves are rounded up.
func (g grid) roundToGrid(v Ratio) *big.Int {
	num, den := big.NewInt(v.Num), big.NewInt(v.Den)
	if g.exp < 0 {
		num.Lsh(num, uint(-g.exp))
	} else {
		den.Lsh(den, uint(g.exp))
	}
	// ⌊(2·num + den) / (2·den)⌋; Div is Euclidean, and den > 0 makes that a floor.
	num.Lsh(num, 1).Add(num, den)
	return num.Div(num, den.Lsh(den, 1))
}

// nearestFloat returns k·g as the nearest float64.
func (g grid) nearestFloat(k *big.Int) float64 {
	f, _ := new(big.Float).SetInt(k).Float64()
	return math.Ldexp(f, g.exp)
}

// bernoulliExp returns true with probability exp(-a/b), for any a ≥ 0 and b > 0, exactly (Canonne,
// Kamath, Steinke 2020, Algorithm 1).
func bernoulliExp(src rng.Source, a, b uint64) bool {
	for ; a > b; a -= b { // exp(-a/b) = exp(-1)·exp(-(a-b)/b)
		if !bernoulliExp(src, 1, 1) {
			return false
		}
	}
	for k := uint64(1); ; k++ { // stops at the first failure of Bernoulli(a/(b·k))
		if rng.Below(src, k) != 0 || rng.Below(src, b) >= a {
			return k&1 == 1
		}
	}
}

// discreteLaplace draws an integer x with probability proportional to
// exp(-|x|/scale), exactly (Canonne, Kamath, Steinke 2020, Algorithm 2).
func discreteLaplace(src rng.Source, scale uint64) *big.Int {
	for {
		u, v := geometricParts(src, scale)
		x := new(big.Int).SetUint64(scale)
		x.Mul(x, new(big.Int).SetUint64(v)).Add(x, new(big.Int).SetUint64(u))
		if src.Uint64()&1 == 0 {
			return x
		}
		if x.Sign() != 0 { // zero must not be counted under both signs
			return x.Neg(x)
		}
	}
}

// shortLaplace is discreteLaplace in machine integers, for scales of at most
// 2^32.
func shortLaplace(src rng.Source, scale uint64) int64 {
	for {
		x, minus := int64(drawGeometric(src, scale)), src.Uint64()&1 == 1
		switch {
		case !minus:
			return x
		case x != 0:
			return -x
		}
	}
}

// geometricParts draws x = v·scale + u ≥ 0 with probability proportional to exp(-x/scale), exactly. u
// < scale and v are independent.
func geometricParts(src rng.Source, scale uint64) (u, v uint64) {
	for u = rng.Below(src, scale); !bernoulliExp(src, u, scale); u = rng.Below(src, scale) {
	}
	for bernoulliExp(src, 1, 1) {
		v++
	}
	return u, v
}

// drawGeometric draws the same x as one number, for scales of at most 2^32.
func drawGeometric(src rng.Source, scale uint64) uint64 {
	u, v := geometricParts(src, scale)
	return v*scale + u
}
