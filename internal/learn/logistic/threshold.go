// SPDX-License-Identifier: Apache-2.0

package logistic

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Threshold converts a linear score to a classifier: coef has length Width+1, the intercept last. All
// numbers are divided by the largest of their absolute values, which changes no sign and brings them
// into [-1, 1]. Its answers can differ only for scores within the rounding error of
// feature.Threshold's grid of zero.
func Threshold(coef []float64) feature.Threshold {
	top := 0.0
	for _, c := range coef {
		top = max(top, math.Abs(c))
	}
	d := len(coef) - 1
	th := feature.Threshold{Coef: make([]float64, d)}
	if top == 0 {
		return th
	}
	for i, c := range coef[:d] {
		th.Coef[i] = c / top
	}
	th.Bias = coef[d] / top
	return th
}
