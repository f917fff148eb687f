// SPDX-License-Identifier: Apache-2.0

package erm

import "github.com/discreet-dp/discreet/internal/guard/perturbed"

// Noise is the distribution of the noise that is added to a computed vector: see perturbed.Noise.
type Noise = perturbed.Noise

const (
	// AutoNoise is Blocks with method objective. With output it is Blocks or Gamma, whichever is
	// shorter relative to the coefficients, by public numbers.
	AutoNoise Noise = "auto"
	Blocks          = perturbed.Blocks
	Gamma           = perturbed.Gamma
	Laplace         = perturbed.Laplace
)

// chooseNoise resolves AutoNoise. The noise of Blocks depends on how far a row moves the minimum, a
// factor of 1 + c/Λ: with a small ridge it can be hundreds of times as long as Gamma's, which has no
// such factor. If the number of rows is unknown, it is Gamma.
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
