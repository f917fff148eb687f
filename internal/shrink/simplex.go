// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"cmp"
	"math"
	"slices"
)

// ProjectOntoSimplex replaces x by the closest numbers, in the sum of squares, that are at least 0 and
// add up to sum (Duchi et al. 2008): all change by the same amount, except those that become 0. If sum
// is not above 0, all become 0. Time O(n log n).
func ProjectOntoSimplex(x []float64, sum float64) {
	if !(sum > 0) {
		clear(x)
		return
	}
	falling := slices.Clone(x)
	slices.SortFunc(falling, func(a, b float64) int { return cmp.Compare(b, a) })
	shift := 0.0
	for i, largest := range falling {
		sum -= largest
		if next := sum / float64(i+1); i == 0 || largest+next > 0 {
			shift = next
		}
	}
	for i := range x {
		x[i] = math.Max(0, x[i]+shift)
	}
}
