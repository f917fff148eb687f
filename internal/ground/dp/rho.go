// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"math"
	"strconv"
)

// Rho is a zero-concentrated privacy loss ρ (Bun and Steinke 2016) counted in whole pico-units
// (1e-12): ρ is about ε²/2, so its unit is smaller than that of Epsilon. It is the price of a
// mechanism with Gaussian noise, which has no finite ε. Like Epsilon it adds up exactly.
type Rho int64

const (
	// Pico is the number of Rho units in ρ = 1.
	Pico = 1_000_000_000_000
	// MaxRho is the largest ρ any mechanism accepts.
	MaxRho Rho = 1000 * Pico
	// Infinite is the pure loss of a release that has no finite one. Total stays Infinite, so that a
	// budget in ε alone can never afford it.
	Infinite Epsilon = math.MaxInt64
)

// Float returns ρ as a float64, for display.
func (r Rho) Float() float64 { return float64(r) / Pico }

// String writes ρ as the shortest decimal.
func (r Rho) String() string { return strconv.FormatFloat(r.Float(), 'g', -1, 64) }
