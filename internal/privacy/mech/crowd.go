// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"iter"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// CellCrowd draws the sum of the addends of several owners at once, for a process that simulates them
// all. The sum has the same distribution as adding up what Exit.CellAddend draws for each, but costs
// as much as one draw. It is not private until it includes the addends of all surviving owners.
func (e *Exit) CellCrowd(l response.Addend, owners iter.Seq2[[]int, float64]) ([]uint64, error) {
	if l.Cells() == 0 {
		return nil, &dp.ParamError{Op: l.Name(), Param: "cells", Want: "must be a vector: these addends are sized for one"}
	}
	out := make([]uint64, l.Dim())
	crowd := uint64(0)
	for cells, weight := range owners {
		if math.IsNaN(weight) || len(cells) > l.Cells() {
			return nil, notANumber(l)
		}
		crowd++
		for _, c := range cells {
			out[c] += roundToPoint(e.src, 2*clampWeight(weight, 0)-1, bits.Len64(l.Steps)-1)
		}
	}
	lowest := int64(l.Top()-l.Steps) / 2
	for j := range out {
		noise := crowd * uint64(lowest)
		for left := crowd; left > 0; {
			some := min(left, uint64(l.Survivors))
			left -= some
			noise += drawPolya(e.src, drawGeometric(e.src, l.Scale), some, uint64(l.Survivors))
			noise -= drawPolya(e.src, drawGeometric(e.src, l.Scale), some, uint64(l.Survivors))
		}
		out[j] += noise // below 0 with a probability of less than e^-96, as each addend is
	}
	return out, nil
}
