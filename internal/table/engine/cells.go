// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// CellSums is how much weight lies in each bin of a column, by label, in units
// of 1/WeightOne.
type CellSums struct {
	Positive, Negative []uint64 // one per bin
}

// Caps are the most that a row may weigh, of the positive class and of the other, 1 to WeightOne.
type Caps [2]uint32

// FullCaps cut no weight.
var FullCaps = Caps{WeightOne, WeightOne}

// WeightOne is how many units make the weight 1, the largest a row can have.
const WeightOne = 1 << 20

// Weight is min(1, exp(-margin)) in units of 1/WeightOne: 1 for a row that a
// score is wrong or undecided about, less the more it is right. margin is in
// units of 1/feature.ScoreOne nat. It never increases with the margin.
func Weight(margin int64) uint64 {
	if margin <= 0 {
		return WeightOne
	}
	return uint64(math.RoundToEven(WeightOne * math.Exp(-float64(margin)/feature.ScoreOne)))
}
