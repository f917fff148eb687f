// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Exponential is the exponential mechanism: candidate i is released with probability proportional to
// exp(ε·score_i/spread).
//
// Claim G-MECH-2. If a neighbour changes every score by an amount in one common interval of length
// Spread, a selection is (Loss, 0)-DP. Scores of sensitivity Δ change within [-Δ, Δ], so that spread =
// 2Δ, the textbook form exp(ε·u/(2Δ)).
type Exponential struct{ choice }

// ExponentialFor makes the mechanism; spread is in the units of the scores.
func ExponentialFor(eps dp.Epsilon, spread float64) (Exponential, error) {
	c, err := choiceFor("exponential", eps, spread)
	return Exponential{c}, err
}

func (m Exponential) Name() string { return "exponential" }

// pick proposes candidates uniformly and accepts a candidate with probability exp(-(best -
// score)/scale). The accepted candidate has exactly the distribution above.
func (m Exponential) pick(src rng.Source, scores []Ratio) int {
	gap := m.gapsBelowBest(scores)
	for {
		if i := int(rng.Below(src, uint64(len(gap)))); bernoulliExp(src, gap[i], m.grid.scale) {
			return i
		}
	}
}

// PermuteAndFlip visits the candidates in random order and accepts each with probability exp(-ε·(best
// − score)/spread), until one is accepted (McKenna and Sheldon 2020). Its expected score is never
// below Exponential's.
//
// Claim G-MECH-3. Under the condition of G-MECH-2 a selection is (Loss, 0)-DP.
type PermuteAndFlip struct{ choice }

// PermuteAndFlipFor makes the mechanism; spread is in the units of the scores.
func PermuteAndFlipFor(eps dp.Epsilon, spread float64) (PermuteAndFlip, error) {
	c, err := choiceFor("permute-and-flip", eps, spread)
	return PermuteAndFlip{c}, err
}

func (m PermuteAndFlip) Name() string { return "permute-and-flip" }

func (m PermuteAndFlip) pick(src rng.Source, scores []Ratio) int {
	gap := m.gapsBelowBest(scores)
	order := make([]int, len(gap))
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(src, len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, i := range order {
		if bernoulliExp(src, gap[i], m.grid.scale) {
			return i
		}
	}
	panic("mech: permute-and-flip passed its best candidate, whose coin always shows true")
}

// choice is the common part of the two selectors.
type choice struct {
	eps    dp.Epsilon
	spread float64
	grid   grid
}

func choiceFor(op string, eps dp.Epsilon, spread float64) (choice, error) {
	if err := checkSize(op, eps, spread, 1); err != nil {
		return choice{}, err
	}
	// Rounding moves each score's change by at most one step either way, hence
	// the spread of the changes by at most two.
	return choice{eps, spread, gridFor(eps, spread, 2)}, nil // 2.1
}

func (c choice) Loss() dp.Epsilon { return c.eps }
func (c choice) Spread() float64  { return c.spread }

// gapsBelowBest returns the distance of each score from the best, in grid steps. A gap that does not
// fit 64 bits is at least 2^23 noise scales, and is replaced by the largest that fits.
func (c choice) gapsBelowBest(scores []Ratio) []uint64 {
	k := make([]*big.Int, len(scores))
	best := 0
	for i, s := range scores {
		if k[i] = c.grid.roundToGrid(s); k[i].Cmp(k[best]) > 0 {
			best = i
		}
	}
	top := new(big.Int).Set(k[best])
	gap := make([]uint64, len(k))
	for i := range k {
		if d := k[i].Sub(top, k[i]); d.IsUint64() {
			gap[i] = d.Uint64()
		} else {
			gap[i] = ^uint64(0)
		}
	}
	return gap
}
