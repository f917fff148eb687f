// SPDX-License-Identifier: Apache-2.0

package erm

import "github.com/discreet-dp/discreet/dp"

// DefaultReg is Λ where none is given: a function of the number of rows, the
// number of coefficients and ε.
func DefaultReg(n, dim int, eps dp.Epsilon) float64 {
	rows := float64(n)
	if eps == 0 {
		return max(minReg, 1/rows)
	}
	u := float64(dim) / (rows * eps.Float())
	return min(maxReg, max(minReg, 1/rows, u))
}
