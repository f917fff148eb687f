// SPDX-License-Identifier: Apache-2.0

package erm

import "github.com/discreet-dp/discreet/internal/guard/perturbed"

// Noise is the law of noise that is added to a computed vector: see perturbed.Noise.
type Noise = perturbed.Noise

const (
	// AutoNoise is Blocks under objective; under output the one of Blocks and Gamma
	// that is shorter beside the coefficients, by public numbers.
	AutoNoise Noise = "auto"
	Blocks          = perturbed.Blocks
	Gamma           = perturbed.Gamma
	Laplace         = perturbed.Laplace
)

// chooseNoise settles AutoNoise. Blocks pays for how far a row bends the minimum, a factor of 1 + c/Λ: on a small
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
		return try.sizeNoise(pl.rows).OutputShare()
	}
	if beside(Gamma) < beside(Blocks) {
		return Gamma
	}
	return Blocks
}
