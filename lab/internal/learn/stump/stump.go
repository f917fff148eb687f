// SPDX-License-Identifier: Apache-2.0

// Package stump finds the best weighted decision stump: a threshold classifier
// with one coefficient, +1 or -1, or none.
package stump

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Search holds the groups' features in ascending order, so that every round of
// boosting costs one pass over the groups' codes and none over sorting.
type Search struct {
	sp   *feature.Space
	g    *engine.Groups
	cols []sorted
}

// sorted is one column of the space: the features its codes are a value of,
// each with the ascending list of values.
type sorted struct {
	codes  *column.Codes
	number int // every code is below it
	// either one feature and its values, in grid steps; rank[code] is an index into steps
	feature int
	rank    []int32
	steps   []int32
	// or one 0/1 feature per code
	indicator []int
}

// NewSearch sorts the codes of sp's columns in g. It keeps g and does not
// change it.
func NewSearch(sp *feature.Space, g *engine.Groups) *Search {
	s := &Search{sp: sp, g: g}
	for k, j := range sp.Columns {
		col := &g.Cols[j]
		c := sorted{codes: &col.Codes}
		occur := distinctCodes(&col.Codes)
		if len(occur) > 0 {
			c.number = int(occur[len(occur)-1]) + 1
		}
		if _, width := sp.Block(k); width > 1 {
			for code := range c.number {
				f, _ := sp.Code(k, code)
				c.indicator = append(c.indicator, f)
			}
		} else {
			c.rankCodes(sp, k, col, occur)
		}
		s.cols = append(s.cols, c)
	}
	return s
}

// distinctCodes returns the distinct codes, ascending.
func distinctCodes(codes *column.Codes) []uint32 {
	all := make([]uint32, codes.Len())
	codes.Read(0, all)
	slices.Sort(all)
	return slices.Compact(all)
}

// rankCodes ranks the codes by the value they contribute to a score, on the grid of
// scores: cells that no threshold can tell apart share a rank.
func (c *sorted) rankCodes(sp *feature.Space, k int, col *column.Column, occur []uint32) {
	at := make([]int32, len(occur))
	for i, code := range occur {
		f, v := sp.Cell(k, col, int(code))
		c.feature = f
		at[i] = sp.Fixed(1, v)
	}
	c.steps = slices.Clone(at)
	slices.Sort(c.steps)
	c.steps = slices.Compact(c.steps)
	c.rank = make([]int32, c.number)
	for i, code := range occur {
		r, _ := slices.BinarySearch(c.steps, at[i])
		c.rank[code] = int32(r)
	}
}

// rule is a stump in grid steps: positive where sign·x ≥ sign·cut, or always
// (sign 0, cut 0), or never (sign 0, cut 1).
type rule struct {
	feature int
	sign    int
	cut     int32
	wrong   float64 // weight it is wrong about
}

// Best returns the stump with the least weight of mistakes, and that weight;
// group g has weight pos[g] of positive and neg[g] of negative labels. Cuts lie
// midway between neighbouring values that occur in the groups; the two constant
// classifiers take part. Ties go to the constants, then to the earlier column,
// the lower cut and the rising direction. Time O(groups·columns + codes).
func (s *Search) Best(pos, neg []float64) (feature.Threshold, float64) {
	allPos, allNeg := sumOf(pos), sumOf(neg)
	best := rule{wrong: allNeg}
	if allPos < allNeg {
		best = rule{cut: 1, wrong: allPos}
	}
	for i := range s.cols {
		c := &s.cols[i]
		if c.indicator != nil {
			c.scanIndicators(s.sp, pos, neg, allPos, allNeg, &best)
		} else {
			c.scanCuts(pos, neg, allPos, allNeg, &best)
		}
	}
	return s.thresholdOf(best), best.wrong
}

// scanCuts scans one feature from its least value up; below and above the cut the
// stump is constant.
func (c *sorted) scanCuts(pos, neg []float64, allPos, allNeg float64, best *rule) {
	atPos, atNeg := make([]float64, len(c.steps)), make([]float64, len(c.steps))
	for g := range pos {
		r := c.rank[c.codes.At(g)]
		atPos[r] += pos[g]
		atNeg[r] += neg[g]
	}
	belowPos, belowNeg := 0.0, 0.0
	for r := range len(c.steps) - 1 {
		belowPos += atPos[r]
		belowNeg += atNeg[r]
		lo, hi := int64(c.steps[r]), int64(c.steps[r+1])
		// Rounded towards the value on the positive side: an answer at the cut
		// itself is positive, and lo and hi may be one step apart.
		best.takeBetter(rule{c.feature, +1, int32((lo + hi + 1) >> 1), belowPos + (allNeg - belowNeg)})
		best.takeBetter(rule{c.feature, -1, int32((lo + hi) >> 1), (allPos - belowPos) + belowNeg})
	}
}

// scanIndicators scans 0/1 features, each between "another code" and "this code".
func (c *sorted) scanIndicators(sp *feature.Space, pos, neg []float64, allPos, allNeg float64, best *rule) {
	atPos, atNeg := make([]float64, c.number), make([]float64, c.number)
	for g := range pos {
		code := c.codes.At(g)
		atPos[code] += pos[g]
		atNeg[code] += neg[g]
	}
	half := sp.Fixed(1, 0.5)
	for code, f := range c.indicator {
		best.takeBetter(rule{f, +1, half, (allPos - atPos[code]) + atNeg[code]})
		best.takeBetter(rule{f, -1, half, atPos[code] + (allNeg - atNeg[code])})
	}
}

func (r *rule) takeBetter(by rule) {
	if by.wrong < r.wrong {
		*r = by
	}
}

// thresholdOf writes a rule as coefficients; grid steps are powers of two, so the
// division is exact.
func (s *Search) thresholdOf(r rule) feature.Threshold {
	th := feature.Threshold{Coef: make([]float64, s.sp.Width())}
	if r.sign == 0 {
		th.Bias = 1 - 2*float64(r.cut)
		return th
	}
	th.Coef[r.feature] = float64(r.sign)
	th.Bias = -float64(r.sign) * float64(r.cut) / float64(s.sp.Fixed(1, 1))
	return th
}

func sumOf(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}
