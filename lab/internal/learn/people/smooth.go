// SPDX-License-Identifier: Apache-2.0

package people

import (
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// smooth is the table as boosting sees it: how many rows share a mistake
// pattern, how right the votes so far are about them, and a distribution over
// them of which no row holds more than one part in total/WeightOne.
//
// A row of margin m has the weight w(u) = min(1, e^(u−m)), and u is the level at
// which the weights add up to total. Raising u raises every weight or leaves it
// (1.2): that, and that the sum is the same for every table, is all the proof of
// the sensitivity needs. Weights are whole units; between two levels of the
// grid on which the sum jumps over total, every weight is interpolated.
type smooth struct {
	patterns *engine.Patterns
	margin   []int64 // per pattern, in units of 1/feature.ScoreOne
	reach    int64   // no margin is larger in size
	total    uint64  // κn in units of weight, public
	// The two levels around total: weights per pattern and how they add up.
	weight [2][]uint64
	sum    [2]uint64
}

func newSmooth(p *engine.Patterns, rows int, kappa float64) *smooth {
	s := &smooth{patterns: p, margin: make([]int64, len(p.Count)), total: density(rows, kappa)}
	for side := range s.weight {
		s.weight[side] = make([]uint64, len(p.Count))
	}
	s.projectMeasure()
	return s
}

// density is κn in units of weight, at least one unit.
func density(rows int, kappa float64) uint64 {
	return max(1, uint64(math.Floor(kappa*float64(rows)*engine.WeightOne)))
}

// sensitivity bounds how far replacing one row moves any weighted error: the
// cap (1.3; evidence/guarantees/people.md, lemma 1). An error never leaves [0, 1].
func sensitivity(total uint64) float64 {
	return min(1, engine.WeightOne/float64(total)*(1+0x1p-50))
}

// projectMeasure finds the level. It doubles as the search's proof: afterwards
// sum[0] < total ≤ sum[1].
func (s *smooth) projectMeasure() {
	// At the lowest level every weight rounds to 0, at the highest each is 1.
	lo, hi := -s.reach-16*feature.ScoreOne, s.reach
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; s.weightsAtLevel(mid, nil) < s.total {
			lo = mid
		} else {
			hi = mid
		}
	}
	s.sum = [2]uint64{s.weightsAtLevel(lo, s.weight[0]), s.weightsAtLevel(hi, s.weight[1])}
}

// weightsAtLevel adds up the weights at level u, and keeps them where out is not nil.
func (s *smooth) weightsAtLevel(u int64, out []uint64) (sum uint64) {
	for i, m := range s.margin {
		w := statistic.Weight(m - u)
		sum += w * s.patterns.Count[i]
		if out != nil {
			out[i] = w
		}
	}
	return sum
}

// wrongWeight is the weight of the rows classifier k is wrong about, in units, of
// total. It is floor(x) for an x that neighbours move by at most WeightOne, a
// whole number, so it moves by at most that too.
func (s *smooth) wrongWeight(k int) uint64 {
	var at [2]uint64
	word, shift := k/64, k%64
	for i, n := range s.patterns.Count {
		if s.patterns.Bits[i*s.patterns.Words+word]>>shift&1 == 1 {
			at[0] += s.weight[0][i] * n
			at[1] += s.weight[1][i] * n
		}
	}
	hi, lo := bits.Mul64(s.total-s.sum[0], at[1]-at[0])
	part, _ := bits.Div64(hi, lo, s.sum[1]-s.sum[0]) // ≤ at[1]-at[0], since total ≤ sum[1]
	return at[0] + part
}

// moveMargins moves every margin by what classifier k says, and the weights with it.
func (s *smooth) moveMargins(k int, vote float64) {
	step := feature.Units(vote)
	for i := range s.margin {
		if s.patterns.Bits[i*s.patterns.Words+k/64]>>(k%64)&1 == 1 {
			s.margin[i] -= step
		} else {
			s.margin[i] += step
		}
	}
	if step < 0 {
		step = -step
	}
	s.reach += step
	s.projectMeasure()
}
