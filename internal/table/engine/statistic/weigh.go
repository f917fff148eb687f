// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// weights computes Weight as a product of two tables, exp(-a)·exp(-b), where a is a multiple of 2^-9
// nat and b is smaller. The error of the product is below a thousandth of a unit. If it could affect
// the rounding, Weight itself decides, so that the weights agree exactly.
type weights struct {
	high [1 << 13]uint32 // exp of minus the index times 2^-9 nat, in units of 2^-31
	low  [1 << lowBits]uint32
}

const (
	lowBits = 11
	// From this margin on a weight is 0.
	weightless = 15 * feature.ScoreOne
	// The logarithm of WeightOne's unit in the product of the tables.
	unitBits = 42
	// The distance from one half, in units of the product, within which the product does not decide:
	// twice the effect of rounding the tables' entries to 2^-32.
	doubt = 1 << 32
)

var weightTables = sync.OnceValue(func() *weights {
	t := new(weights)
	for i := range t.high {
		t.high[i] = uint32(math.Round(0x1p31 * math.Exp(-float64(i<<lowBits)/feature.ScoreOne)))
	}
	for i := range t.low {
		t.low[i] = uint32(math.Round(0x1p31 * math.Exp(-float64(i)/feature.ScoreOne)))
	}
	return t
})

// writeWeights writes, for each of margins in their stored form, the weight times 2, plus 1 for a row
// of the positive label.
func (t *weights) writeWeights(margins []int32, out []uint32) {
	out = out[:len(margins)]
	for i, x := range margins {
		// The margin, but at least 0 and at most weightless: rows are too irregular
		// to branch on.
		y := x >> 1
		y &^= y >> 31
		y -= weightless
		m := uint32(y&(y>>31) + weightless)
		p := uint64(t.high[m>>lowBits%(1<<13)])*uint64(t.low[m%(1<<lowBits)]) + 1<<(unitBits-1)
		w := uint32(p >> unitBits)
		if (p+doubt)%(1<<unitBits) < 2*doubt {
			w = uint32(Weight(int64(m)))
		}
		out[i] = w<<1 | uint32(x&1)
	}
}
