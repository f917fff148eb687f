// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Gaussian adds independent discrete Gaussian noise to each number of a vector.
//
// Claim G-MECH-7. A release of values whose Euclidean (L2) distance between neighbours is at most
// Sensitivity is Rho-zCDP, exactly, without a real-number idealisation. It has no finite pure price:
// Loss is dp.Infinite.
type Gaussian struct {
	rho  dp.Rho
	sens float64
	exp  int    // the grid is 2^exp
	dev  uint64 // σ in steps, a whole number
}

// maxGaussianLength is the largest vector for which the price of package accounting is valid: its
// slack for the fine grid covers that many numbers.
const maxGaussianLength = 1 << 20

// GaussianFor makes the noise for one release of a vector of the given length, at most 2^20, with L2
// sensitivity l2, in the units of the values.
func GaussianFor(rho dp.Rho, l2 float64, length int) (Gaussian, error) {
	switch {
	case rho < 1 || rho > dp.MaxRho:
		return Gaussian{}, &dp.ParamError{Op: "gaussian", Param: "rho", Want: "must be at least 1e-12 and at most " +
			dp.MaxRho.String(), Got: rho}
	case !(l2 > 0x1p-500 && l2 < 0x1p500):
		return Gaussian{}, &dp.ParamError{Op: "gaussian", Param: "sensitivity", Want: "must be finite and > 0", Got: l2}
	case length < 1 || length > maxGaussianLength:
		return Gaussian{}, &dp.ParamError{Op: "gaussian", Param: "length",
			Want: fmt.Sprintf("must be at least 1 and at most %d", maxGaussianLength), Got: length}
	}
	_, e := math.Frexp(l2 / math.Sqrt(2*rho.Float()))
	m := Gaussian{rho: rho, sens: l2, exp: e - gridBits}
	// Rounding moves each coordinate's difference by at most one step, hence
	// the Euclidean distance by at most √length.
	steps := uint64(math.Ceil(math.Ldexp(l2, -m.exp))) + ceilRoot(big.NewInt(int64(length))).Uint64() // 7.1
	// σ ≥ steps/√(2ρ): σ² = ⌈steps²·1e12/(2·ρ_pico)⌉, and its root rounded up.
	square := new(big.Int).SetUint64(steps)
	square.Mul(square, square).Mul(square, big.NewInt(dp.Pico))
	twice := big.NewInt(2 * int64(rho))
	square.Add(square, twice).Sub(square, big.NewInt(1)).Quo(square, twice)
	m.dev = ceilRoot(square).Uint64()
	return m, nil
}

// ceilRoot returns ⌈√n⌉ for n ≥ 0.
func ceilRoot(n *big.Int) *big.Int {
	r := new(big.Int).Sqrt(n)
	if new(big.Int).Mul(r, r).Cmp(n) < 0 {
		r.Add(r, big.NewInt(1))
	}
	return r
}

func (m Gaussian) Name() string         { return "gaussian" }
func (m Gaussian) Loss() dp.Epsilon     { return dp.Infinite }
func (m Gaussian) Sensitivity() float64 { return m.sens }
func (m Gaussian) Norm() Norm           { return L2 }

// Rho is the price of one release.
func (m Gaussian) Rho() dp.Rho { return m.rho }

// Scale is σ, the standard deviation of the noise on each number, in the units
// of the values. It exceeds sens/√(2ρ) by about √length parts in 2^40.
func (m Gaussian) Scale() float64 { return float64(m.dev) * m.Grid() }

// Grid is the public step: every output is an integer multiple of it.
func (m Gaussian) Grid() float64 { return math.Ldexp(1, m.exp) }

func (m Gaussian) draw(src rng.Source, values []Ratio) []float64 {
	g := grid{exp: m.exp}
	out := make([]float64, len(values))
	for i, v := range values {
		k := g.roundToGrid(v)                                           // 7.2
		out[i] = g.nearestFloat(k.Add(k, discreteGaussian(src, m.dev))) // 7.3
	}
	return out
}

// discreteGaussian draws an integer x with probability proportional to exp(-x²/(2σ²)), exactly. It
// draws a discrete Laplace variable of scale σ and accepts it with probability exp(-(|x|-σ)²/(2σ²))
// (Canonne, Kamath, Steinke 2020, Algorithm 3, which allows any integer scale).
func discreteGaussian(src rng.Source, dev uint64) *big.Int {
	s := new(big.Int).SetUint64(dev)
	for {
		x := discreteLaplace(src, dev)
		d := new(big.Int).Abs(x)
		d.Sub(d, s).Abs(d)
		whole, rest := d.QuoRem(d, s, new(big.Int))
		if bernoulliHalfSquare(src, whole.Uint64(), rest.Uint64(), dev) {
			return x
		}
	}
}

// bernoulliHalfSquare returns true with probability exp(-(m + r/s)²/2), r < s, exactly and in 64-bit
// arithmetic: (m + r/s)²/2 = m·(m/2) + m·(r/s) + (r/s)·(r/(2s)).
func bernoulliHalfSquare(src rng.Source, m, r, s uint64) bool {
	for range m {
		if !bernoulliExp(src, m, 2) || !bernoulliExp(src, r, s) {
			return false
		}
	}
	// The series of bernoulliExp for a product of two fractions below 1: the
	// k-th coin shows true with probability (r/s)·(r/(2s))/k.
	for k := uint64(1); ; k++ {
		if rng.Below(src, k) != 0 || rng.Below(src, s) >= r || rng.Below(src, 2*s) >= r {
			return k&1 == 1
		}
	}
}
