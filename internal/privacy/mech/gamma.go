// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Gamma adds one noise vector η with density proportional to exp(-‖η‖/scale) to a vector of numbers.
// Its direction is uniform, and its Euclidean length has the gamma distribution of shape d and that
// scale.
//
// Claim G-MECH-4. A release of values whose Euclidean (L2) distance between neighbours is at most
// Sensitivity is (Loss, 0)-DP for real-valued noise. The actual noise is computed in float64 from
// uniforms of 64 random bits, and the sum is rounded to a public grid of about 2^20 steps per scale.
// This is an approximation, and documented as one. Laplace with L1 sensitivity √d·s is the exact
// alternative.
type Gamma struct{ vector }

// GammaFor makes the noise for one release of a vector of the given length with L2 sensitivity l2, in
// the units of the values.
func GammaFor(eps dp.Epsilon, l2 float64, length int) (Gamma, error) {
	v, err := vectorFor("gamma", eps, eps.Float(), l2, length, releaseBits)
	return Gamma{v}, err
}

func (Gamma) Name() string { return "gamma" }
func (Gamma) Norm() Norm   { return L2 }

// Objective is the noise b for an objective that is perturbed by a linear term b·w. It has the same
// distribution as Gamma, scaled for the part of ε that remains after the change of variables from b to
// the minimiser.
//
// Claim G-MECH-5. Let w solve b = -F(w) where F is one-to-one and, at every w, differs by at most
// Sensitivity (L2) between neighbours, and let the determinants of its derivative differ by a factor
// of at most e^jacobian. Then releasing w is (Loss, 0)-DP for real-valued noise.
type Objective struct{ vector }

// ObjectiveFor makes the noise. It fails unless jacobian is in [0, ε).
func ObjectiveFor(eps dp.Epsilon, l2, jacobian float64, length int) (Objective, error) {
	left, err := afterJacobian(eps, jacobian)
	if err != nil {
		return Objective{}, err
	}
	v, err := vectorFor("objective", eps, left, l2, length, termBits)
	return Objective{v}, err
}

// afterJacobian returns the part of ε that is left for the noise.
func afterJacobian(eps dp.Epsilon, jacobian float64) (float64, error) {
	left := eps.Float() - jacobian // 5.1
	if !(jacobian >= 0 && left > 0) {
		return 0, &dp.ParamError{Op: "objective", Param: "jacobian", Want: "must be at least 0 and below epsilon " +
			eps.String(), Got: jacobian}
	}
	return left * (1 - 0x1p-40), nil
}

func (Objective) Name() string { return "objective" }
func (Objective) Norm() Norm   { return L2 }

// Remainder is the noise for a computed vector that is within radius of another whose release is
// already paid for, as the result of a solver is near the exact minimum. It is Gamma with sensitivity
// 2·radius.
//
// Claim G-MECH-6. If releasing x is (ε₁, 0)-DP and y, a function of x and the table, has ‖y − x‖ ≤
// radius, then releasing y through Remainder instead of x is (ε₁+Loss, 0)-DP for real-valued noise.
type Remainder struct{ vector }

// RemainderFor makes the noise.
func RemainderFor(eps dp.Epsilon, radius float64, length int) (Remainder, error) {
	v, err := vectorFor("remainder", eps, eps.Float(), 2*radius, length, releaseBits) // 6.1
	return Remainder{v}, err
}

func (Remainder) Name() string { return "remainder" }
func (Remainder) Norm() Norm   { return Certified }

// vector is the common part of the mechanisms that draw one noise vector.
type vector struct {
	eps   dp.Epsilon
	sens  float64
	scale float64
	exp   int // the grid is 2^exp
}

// The grid is 2^(⌈log2 scale⌉ - bits). The grid of released values is coarse, to hide the low bits of
// floating-point noise. A linear term is not released: its equation is solved for the rounded term,
// and the effect of rounding on the solution is included in the radius of Remainder, so that a fine
// grid costs less.
const (
	releaseBits = 20
	termBits    = 36
)

// vectorFor makes noise whose loss is at most loss, a part of eps.
func vectorFor(op string, eps dp.Epsilon, loss, l2 float64, length, bits int) (vector, error) {
	if err := checkSize(op, eps, l2, length); err != nil {
		return vector{}, err
	}
	scale := l2 / loss * (1 + 0x1p-40) // 4.1
	_, e := math.Frexp(scale)
	return vector{eps: eps, sens: l2, scale: scale, exp: e - bits}, nil
}

func (v vector) Loss() dp.Epsilon     { return v.eps }
func (v vector) Sensitivity() float64 { return v.sens }

// Scale is the scale of the gamma distribution of the noise's length, in the units of the values. The
// mean length is d·Scale, its standard deviation √d·Scale.
func (v vector) Scale() float64 { return v.scale }

// Grid is the public step: every output is an integer multiple of it. Rounding moves a vector of
// length d by at most Grid·√d/2.
func (v vector) Grid() float64 { return math.Ldexp(1, v.exp) }

func (v vector) draw(src rng.Source, values []Ratio) []float64 {
	return v.addOnGrid(drawSpherical(src, len(values)), values)
}

// addOnGrid adds in exact arithmetic and rounds the sum to the grid. Rounding is a function of the
// sum, so that it costs nothing. noise is in units of the scale.
func (v vector) addOnGrid(noise []float64, values []Ratio) []float64 {
	g, out := grid{exp: v.exp}, make([]float64, len(values))
	for i, x := range values {
		out[i] = g.nearestFloat(nearestStep(x, noise[i]*v.scale, v.exp)) // 4.2
	}
	return out
}

// nearestStep returns the integer nearest to (x + noise)/2^exp, exactly; halves are rounded up.
func nearestStep(x Ratio, noise float64, exp int) *big.Int {
	frac, e := math.Frexp(noise)
	whole := int64(frac * (1 << 53)) // noise = whole·2^e
	e -= 53
	// Over the denominator Den·2^up all is whole.
	up := max(0, exp, exp-e)
	num := new(big.Int).Lsh(big.NewInt(x.Num), uint(up-exp))
	den := big.NewInt(x.Den)
	part := new(big.Int).Mul(big.NewInt(whole), den)
	num.Add(num, part.Lsh(part, uint(up+e-exp)))
	den.Lsh(den, uint(up))
	return num.Lsh(num, 1).Add(num, den).Div(num, den.Lsh(den, 1))
}

// drawSpherical draws a vector with density proportional to exp(-‖x‖) in d dimensions. The sum of d
// exponentials is its length, and d normals give its direction.
func drawSpherical(src rng.Source, d int) []float64 {
	x := make([]float64, d)
	length, norm := 0.0, 0.0
	for i := range x {
		length += drawExponential(src)
		x[i] = drawNormal(src)
		norm += x[i] * x[i]
	}
	norm = math.Sqrt(norm)
	if norm == 0 { // d = 1 and a normal of exactly 0: probability below 2^-60
		return drawSpherical(src, d)
	}
	for i := range x {
		x[i] *= length / norm
	}
	return x
}

// drawExponential draws -log(u) for u = (k + 1/2)/2^64. Half of the time it computes log1p of 1-u
// instead, so that neither end is coarse.
func drawExponential(src rng.Source) float64 {
	k := src.Uint64()
	if k < 1<<63 {
		return -math.Log((float64(k) + 0.5) * 0x1p-64)
	}
	return -math.Log1p(-(float64(^k) + 0.5) * 0x1p-64)
}

// drawNormal draws one coordinate of a Box-Muller pair.
func drawNormal(src rng.Source) float64 {
	r := math.Sqrt(2 * drawExponential(src))
	return r * math.Cos(2*math.Pi*(float64(src.Uint64())*0x1p-64))
}
