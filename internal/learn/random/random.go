// SPDX-License-Identifier: Apache-2.0

// Package random draws linear classifiers that have seen no data.
package random

import (
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// grid is the number of steps between 0 and 1. Coefficients on a grid are
// exactly uniform and print exactly; 2^-20 is far below what any answer can
// depend on.
const grid = 1 << 20

// Threshold draws a threshold of sp: each coefficient, and the bias when intercept
// is set (else it is 0), uniformly from the 2^21+1 numbers k/2^20 in [-1, 1]
// (Shen et al., Algorithm 2, line 5). It draws in the order of the features,
// the bias last.
func Threshold(src rng.Source, sp *feature.Space, intercept bool) feature.Threshold {
	th := feature.Threshold{Coef: make([]float64, sp.Width())}
	for i := range th.Coef {
		th.Coef[i] = drawUniform(src)
	}
	if intercept {
		th.Bias = drawUniform(src)
	}
	return th
}

func drawUniform(src rng.Source) float64 {
	return float64(int64(rng.Below(src, 2*grid+1))-grid) / grid
}
