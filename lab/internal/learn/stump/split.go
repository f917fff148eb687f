// SPDX-License-Identifier: Apache-2.0

package stump

import "github.com/discreet-dp/discreet/internal/table/feature"

// Split is a stump about a label of any number of levels: it says level Yes
// where its threshold answers positive and level No elsewhere.
type Split struct {
	feature.Threshold
	Yes, No int
}

// side is the weight of each level on one side of a cut.
type side []float64

// heaviestClass returns the heaviest level, the first of several.
func (s side) heaviestClass() (level int) {
	for k, x := range s {
		if x > s[level] {
			level = k
		}
	}
	return level
}

// giniWeight is the weight of the side times the chance that two of its rows, drawn
// by weight, have one level.
func (s side) giniWeight() float64 {
	all, squares := 0.0, 0.0
	for _, x := range s {
		all += x
		squares += x * x
	}
	if all == 0 {
		return 0
	}
	return squares / all
}

// BestSplit returns the split with the purest sides by Gini's measure; group g
// has weight w[level][g] of rows of each level, ≥ 0 and not all 0. Each side says
// its heaviest level, which is never wrong about more than a constant would be.
// (The split with the fewest mistakes, which Best finds for two levels, looks no
// further than the two heaviest of many.) Cuts and ties are those of Best,
// falling stumps left out: here they are rising ones with their sides exchanged.
// Time O((groups·columns + codes)·levels).
func (s *Search) BestSplit(w [][]float64) Split {
	all := make(side, len(w))
	for k := range w {
		all[k] = sumOf(w[k])
	}
	level := all.heaviestClass()
	best, purest := Split{Yes: level, No: level}, all.giniWeight()
	bestRule := rule{}
	for i := range s.cols {
		c := &s.cols[i]
		c.tryCuts(s.sp, w, all, func(r rule, yes, no side) {
			if p := yes.giniWeight() + no.giniWeight(); p > purest {
				purest, bestRule = p, r
				best.Yes, best.No = yes.heaviestClass(), no.heaviestClass()
			}
		})
	}
	best.Threshold = s.thresholdOf(bestRule)
	return best
}

// tryCuts tries every cut of one column: between neighbouring values, or one code
// against the others.
func (c *sorted) tryCuts(sp *feature.Space, w [][]float64, all side, try func(r rule, yes, no side)) {
	size := len(c.steps)
	if c.indicator != nil {
		size = c.number
	}
	at := make([]side, size)
	for i := range at {
		at[i] = make(side, len(w))
	}
	codes := make([]uint32, len(w[0]))
	c.codes.Read(0, codes)
	for g, code := range codes {
		if c.indicator == nil {
			code = uint32(c.rank[code])
		}
		for k := range w {
			at[code][k] += w[k][g]
		}
	}
	yes, no := make(side, len(w)), make(side, len(w))
	if c.indicator != nil {
		half := sp.Fixed(1, 0.5)
		for code, f := range c.indicator {
			for k := range all {
				no[k] = all[k] - at[code][k]
			}
			try(rule{feature: f, sign: +1, cut: half}, at[code], no)
		}
		return
	}
	for r := range size - 1 {
		for k := range all {
			no[k] += at[r][k]
			yes[k] = all[k] - no[k]
		}
		lo, hi := int64(c.steps[r]), int64(c.steps[r+1])
		try(rule{feature: c.feature, sign: +1, cut: int32((lo + hi + 1) >> 1)}, yes, no)
	}
}
