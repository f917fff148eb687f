// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// weights are Weight by a product of two tables, exp(-a)·exp(-b) with a a
// multiple of 2^-9 nat and b less than one. The product is off by less than a
// thousandth of a unit; where that could round the other way Weight
// itself decides, so the weights are the same to the bit.
type weights struct {
	high [1 << 13]uint32 // exp of minus the index·2^-9 nat, in units of 2^-31
	low  [1 << lowBits]uint32
}

const (
	lowBits = 11
	// From here on a weight is 0.
	weightless = 15 * feature.ScoreOne
	// unit is WeightOne's in the product of the tables.
	unitBits = 42
	// doubt is how close to a half the product does not decide, in its units:
	// twice what rounding the tables' entries to 2^-32 can do.
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

// writeWeights writes, for each of margins as scored holds them, the weight times 2,
// plus 1 for a row of the positive label.
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
