// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Noise is the law of noise that is added to a computed vector.
type Noise string

const (
	// AutoNoise is Blocks under objective; under output the one of Blocks and Gamma
	// that is shorter beside the coefficients, by public numbers.
	AutoNoise Noise = "auto"
	// Blocks is noise shaped like what one row can do: every column has one
	// non-zero feature. In float64 arithmetic, like Gamma.
	Blocks Noise = "blocks"
	// Gamma is spherical noise, as in the paper.
	Gamma Noise = "gamma"
	// Laplace is exact discrete noise, about √2 times as long as Gamma; method
	// output only.
	Laplace Noise = "laplace"
)

// chooseNoise settles AutoNoise. Of a ridge Λ and rows of curvature c the
// coefficients are about as long as 1/(Λ + c/d), which noise is measured against.
// Blocks pays for how far a row bends the minimum, a factor of 1 + c/Λ: on a small
// ridge its noise can be hundreds of times as long as Gamma's. Without the number of
// rows it is Gamma, whose length has no such factor.
func (pl *Plan) chooseNoise() Noise {
	if pl.NotPrivate || pl.Method == Objective {
		return Blocks
	}
	if pl.rows == 0 {
		return Gamma
	}
	beside := func(noise Noise) float64 {
		try := *pl
		try.Noise = noise
		try.writeBill()
		p := try.planPerturbation(pl.rows)
		return noiseLength(p.after, p.dim) * (p.reg + p.curve*p.norm*p.norm/float64(p.dim))
	}
	if beside(Gamma) < beside(Blocks) {
		return Gamma
	}
	return Blocks
}

// sized is what a mechanism says of the noise it draws.
type sized interface{ Scale() float64 }

// noiseLength is about how long the noise of m is in d dimensions, 0 where it
// has none.
func noiseLength(m mech.Mechanism, d int) float64 {
	switch m := m.(type) {
	case interface{ Width() float64 }:
		return m.Width()
	case sized:
		return float64(d) * m.Scale()
	}
	return 0
}

// blockSizes are the sizes of the blocks of a row: one a column, in each of which
// one feature of size at most 1 is non-zero, and the intercept's constant.
func (pl *Plan) blockSizes() []int {
	sizes := make([]int, 0, len(pl.space.Columns)+1)
	for k := range pl.space.Columns {
		_, width := pl.space.Block(k)
		sizes = append(sizes, width)
	}
	return append(sizes, 1)
}

// largestEntry is the largest entry of a scaled row: no feature and not the constant is
// larger than 1, and no row longer than Norm.
func (pl *Plan) largestEntry() float64 { return min(pl.rowScale(), pl.Norm) }

// termNoise is the law of b, where the change of variables takes jacobian of eps.
func (u units) termNoise(noise Noise, eps dp.Epsilon, jacobian float64) mech.Mechanism {
	if noise == Blocks {
		return mech.Sized(mech.ObjectiveBlocksFor(eps, 2*u.cell, jacobian, u.blocks)) // 5.1
	}
	return mech.Sized(mech.ObjectiveFor(eps, u.rowSlopes(), jacobian, u.dim)) // 2.2
}

// outputNoise is the law of noise on a computed minimum that moves by at most
// slope times what the rows' slopes of 1 would make of it, and by at most off
// for reasons of rounding.
func (u units) outputNoise(noise Noise, eps dp.Epsilon, slope, off float64) mech.Mechanism {
	l2 := u.rowSlopes()*slope/u.summedPenalty() + off
	switch noise {
	case Blocks: // 5.2
		l1 := 2*u.cell*slope/u.summedPenalty()*(1+u.curve*u.norm*u.norm/u.reg) + off*math.Sqrt(float64(widestBlock(u.blocks)))
		return mech.Sized(mech.BlocksFor(eps, l1, u.blocks))
	case Laplace: // L1 is at most √d times L2
		return mech.Sized(mech.LaplaceFor(eps, l2*math.Sqrt(float64(u.dim)), u.dim))
	}
	return mech.Sized(mech.GammaFor(eps, l2, u.dim))
}

func widestBlock(sizes []int) (most int) {
	for _, m := range sizes {
		most = max(most, m)
	}
	return most
}
