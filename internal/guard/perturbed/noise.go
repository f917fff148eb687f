// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Noise is the distribution of the noise that is added to a computed vector.
type Noise string

const (
	// Blocks is noise with the shape of one row's influence: every column has one non-zero feature. It
	// uses float64 arithmetic, like Gamma.
	Blocks Noise = "blocks"
	// Gamma is spherical noise, as in the paper.
	Gamma Noise = "gamma"
	// Laplace is exact discrete noise, about √2 times as long as Gamma; it is for noise on the minimum
	// only.
	Laplace Noise = "laplace"
)

// sized is a mechanism with a noise scale.
type sized interface{ Scale() float64 }

// noiseLength is the approximate length of the noise of m in d dimensions, 0 without noise.
func noiseLength(m mech.Mechanism, d int) float64 {
	switch m := m.(type) {
	case interface{ Width() float64 }:
		return m.Width()
	case sized:
		return float64(d) * m.Scale()
	}
	return 0
}

// termNoise returns the mechanism that draws b. The change of variables uses the part jacobian of eps.
func (u units) termNoise(noise Noise, eps dp.Epsilon, jacobian float64) mech.Mechanism {
	if noise == Blocks {
		return mech.Sized(mech.ObjectiveBlocksFor(eps, 2*u.cell, jacobian, u.blocks)) // 5.1
	}
	return mech.Sized(mech.ObjectiveFor(eps, u.rowSlopes(), jacobian, u.dim)) // 2.2
}

// outputNoise returns the mechanism for noise on a computed minimum. The minimum moves by at most
// slope times its movement for rows with slope 1, plus off for rounding.
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
