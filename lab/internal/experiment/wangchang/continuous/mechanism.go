// SPDX-License-Identifier: Apache-2.0

package continuous

import "github.com/discreet-dp/discreet/internal/privacy/rng"

// Mechanism perturbs vectors of [-1, 1]^d, each at the whole ε it was made for.
// A cell outside [-1, 1] is clamped.
type Mechanism interface {
	// Sum adds up the perturbed rows from..to-1, one report each, into a vector
	// of length d that it returns.
	Sum(rows Rows, from, to int, src rng.Source) []float64
	// Variance is that of one coordinate of a report whose true value is t, in
	// [-1, 1], taken over the sampling of coordinates as well.
	Variance(t float64) float64
}

// Rows are vectors of one length.
type Rows interface {
	Len() int
	Dim() int
	// Row writes row i to out, of length Dim.
	Row(i int, out []float64)
}

// drawUnit draws uniformly from [0, 1).
func drawUnit(src rng.Source) float64 { return float64(src.Uint64()>>11) * 0x1p-53 }

func clamp(t float64) float64 {
	if !(t > -1) {
		return -1
	}
	return min(t, 1)
}
