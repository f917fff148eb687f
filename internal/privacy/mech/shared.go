// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Shared is noise to which the holders of several tables contribute: each adds a share of it to the
// sums over its own rows. The shares of any Honest holders are sufficient.
//
// Claim G-SITES-1. The sum over at least honest holders, of values whose distance between neighbours
// is at most the sensitivity, costs as much as one Gaussian or Laplace release.
type Shared struct {
	whole  Mechanism // with the same price as the sum
	grid   grid      // its scale is that of the whole noise in steps; 0 for Gaussian noise
	dev    uint64    // σ of one share in steps; 0 for Laplace noise
	honest uint64
}

// MaxHonest bounds the number of holders that share noise.
const MaxHonest = 64

func checkHonest(honest int) error {
	if honest < 1 || honest > MaxHonest {
		return &dp.ParamError{Op: "shared noise", Param: "honest", Want: fmt.Sprintf("must be 1 to %d", MaxHonest), Got: honest}
	}
	return nil
}

// SharedGaussian makes shares of the noise of GaussianFor.
func SharedGaussian(rho dp.Rho, l2 float64, length, honest int) (Shared, error) {
	if err := checkHonest(honest); err != nil {
		return Shared{}, err
	}
	m, err := GaussianFor(rho, l2, length)
	if err != nil {
		return Shared{}, err
	}
	// honest·dev² ≥ σ²: both the quotient and its root are rounded up.
	square := new(big.Int).SetUint64(m.dev)
	square.Mul(square, square).Add(square, big.NewInt(int64(honest-1))).Quo(square, big.NewInt(int64(honest)))
	return Shared{m, grid{exp: m.exp}, ceilRoot(square).Uint64(), uint64(honest)}, nil // 1.1
}

// SharedLaplace makes shares of the noise of LaplaceFor.
func SharedLaplace(eps dp.Epsilon, l1 float64, length, honest int) (Shared, error) {
	if err := checkHonest(honest); err != nil {
		return Shared{}, err
	}
	m, err := LaplaceFor(eps, l1, length)
	if err == nil && bits.Len64(m.grid.scale)+beyondScale > 64 {
		err = &dp.ParamError{Op: "shared noise", Param: "epsilon", Want: "must be larger for so many numbers", Got: eps}
	}
	return Shared{m, m.grid, 0, uint64(honest)}, err
}

// Name is the name of the mechanism with the same price as the sum.
func (m Shared) Name() string { return m.whole.Name() }

// Floats converts sums over holders to the units of the values.
func (m Shared) Floats(sums []Whole) []float64 {
	out := make([]float64, len(sums))
	for i, s := range sums {
		out[i] = m.grid.nearestFloat(s.big())
	}
	return out
}

func (m Shared) drawNoise(src rng.Source) *big.Int {
	if m.dev > 0 {
		return discreteGaussian(src, m.dev)
	}
	up, down := polyaShare(src, m.honest, m.grid.scale), polyaShare(src, m.honest, m.grid.scale)
	return up.Sub(up, down) // 1.2
}

// beyondScale is the exponent of the limit, 2^beyondScale scales, at which polyaShare truncates.
const beyondScale = 12

// polyaShare draws a negative binomial variable of shape 1/parts. The sum of parts of them is an x ≥ 0
// with probability proportional to exp(-x/scale). It is the sum of the points k ≥ 1 of a Poisson
// process with intensity exp(-k/scale)/(k·parts). Points beyond 2^12 scales, of which there is one
// with a probability below e^-4096, are left out. Each octave from 2^j has Poisson(1) points at
// uniform positions, which are accepted with probability 1/parts, 2^j/k and exp(-k/scale). Therefore
// it needs a few coins per octave, regardless of the scale.
func polyaShare(src rng.Source, parts, scale uint64) *big.Int {
	sum, point := new(big.Int), new(big.Int)
	for j := range bits.Len64(scale) + beyondScale {
		from := uint64(1) << j
		for range poissonOne(src) {
			if rng.Below(src, parts) != 0 {
				continue
			}
			k := from + rng.Below(src, from)
			if rng.Below(src, k) < from && bernoulliExp(src, k, scale) { // 1.3
				sum.Add(sum, point.SetUint64(k))
			}
		}
	}
	return sum
}

// poissonOne draws a Poisson variable of mean 1, exactly: it proposes k with probability 2^-(k+1) and
// accepts it with probability 2^(k-1)/k!.
func poissonOne(src rng.Source) int {
	for {
		k := bits.TrailingZeros64(src.Uint64())
		keep := k > 0 || src.Uint64()&1 == 1
		for i := 3; keep && i <= k; i++ {
			keep = rng.Below(src, uint64(i)) < 2
		}
		if keep {
			return k
		}
	}
}

// Share releases a holder's values into a sum over all holders. They must be released nowhere else:
// with only a share of the noise they are not private yet.
func (e *Exit) Share(label string, m Shared, values ...Ratio) []Whole {
	out := make([]Whole, len(values))
	if e.tape != nil {
		if said := e.tape.Numbers(label, m.whole, values); said != nil {
			for i, x := range said {
				out[i] = wholeOf(m.grid.roundToGrid(RatioOf(x)))
			}
			return out
		}
	}
	for i, v := range values {
		k := m.grid.roundToGrid(v)                     // 1.4
		out[i] = wholeOf(k.Add(k, m.drawNoise(e.src))) // 1.5
	}
	return out
}

// Whole is an integer modulo 2^128, in two's complement.
type Whole struct{ High, Low uint64 }

var twoTo128 = new(big.Int).Lsh(big.NewInt(1), 128)

func wholeOf(k *big.Int) Whole {
	k = new(big.Int).Mod(k, twoTo128)
	low := new(big.Int).And(k, new(big.Int).SetUint64(math.MaxUint64))
	return Whole{k.Rsh(k, 64).Uint64(), low.Uint64()}
}

func (w Whole) big() *big.Int {
	k := new(big.Int).Lsh(new(big.Int).SetUint64(w.High), 64)
	k.Or(k, new(big.Int).SetUint64(w.Low))
	if w.High>>63 == 1 {
		k.Sub(k, twoTo128)
	}
	return k
}

// Plus returns w + v.
func (w Whole) Plus(v Whole) Whole {
	low, carry := bits.Add64(w.Low, v.Low, 0)
	high, _ := bits.Add64(w.High, v.High, carry)
	return Whole{high, low}
}

// Minus returns w − v.
func (w Whole) Minus(v Whole) Whole {
	low, borrow := bits.Sub64(w.Low, v.Low, 0)
	high, _ := bits.Sub64(w.High, v.High, borrow)
	return Whole{high, low}
}
