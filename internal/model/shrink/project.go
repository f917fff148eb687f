// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
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

// MakeMonotone replaces steps, of bins in increasing order, by the closest sequence that never falls
// (or never rises) if the schema requires it. It uses isotonic regression by pooling adjacent
// violators, with weights of one divided by the variance. variance may be nil for equal weights.
func MakeMonotone(m schema.Monotone, steps, variance []float64) {
	if m == schema.Free {
		return
	}
	sign := 1.0
	if m == schema.Decreasing {
		sign = -1
	}
	type block struct {
		sum, weight float64
		bins        int
	}
	var blocks []block
	for b, s := range steps {
		w := 1.0
		if variance != nil {
			w = 1 / (variance[b] + 1e-9)
		}
		now := block{sign * s * w, w, 1}
		for n := len(blocks); n > 0 && blocks[n-1].sum/blocks[n-1].weight >= now.sum/now.weight; n-- {
			last := blocks[n-1]
			now = block{now.sum + last.sum, now.weight + last.weight, now.bins + last.bins}
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, now)
	}
	b := 0
	for _, p := range blocks {
		for range p.bins {
			steps[b] = sign * p.sum / p.weight
			b++
		}
	}
}
