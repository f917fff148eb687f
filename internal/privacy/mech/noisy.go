// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math/bits"

	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// drawNoisy adds discrete Laplace noise to every coordinate.
func drawNoisy(src rng.Source, l response.Laplace, values []float64) response.Report {
	r := make(response.Report, l.Dim())
	zero := int64(l.Top()-l.Steps) / 2 // the word of a coordinate of -1 without noise
	for j, v := range values {
		steps := int64(roundToPoint(src, v, bits.Len64(l.Steps)-1))
		noise := shortLaplace(src, l.Scale) // 4.2
		r[j] = uint32(min(max(zero+steps+noise, 0), int64(l.Top())))
	}
	return r
}
