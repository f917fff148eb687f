// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Right returns, for each of the cuts, the total weight of the rows that are classified correctly if
// scores of at least the cut are predicted positive. Scores use features of the space without scaling
// or clipping: coef is as in a model, with the intercept last. A row changes each number by at most
// its weight. It reads each row once, and costs as much as a gradient. It fails only if ctx ends, coef
// has the wrong length or there is no cut.
func (m *MarginRows) Right(ctx context.Context, coef []float64, cuts engine.Cuts) ([]float64, error) {
	if err := cuts.Check(m.sp, coef); err != nil {
		return nil, err
	}
	plain := *m
	plain.factor = nil
	s := m.newScratch(false)
	defer m.spare.Put(s)
	t := newTerms(engine.LossUnits{Scale: 1}, engine.Loss{}, coef, reachOf(m.sp, coef))
	plain.tabulateJoints(t, s.tables)
	passed := newPassedCuts(cuts)
	// by the number of cuts that a row passes: what it is worth to be called positive
	gain, sum := make([]float64, cuts.Count+1), 0.0
	for at := 0; at < m.Len(); at += lossBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(lossBlock, m.Len()-at)
		plain.scoreBlock(at, n, t, s.tables, s)
		pos, neg := m.pos[at:][:n], m.neg[at:][:n]
		for i, z := range s.score[:n] {
			times := 1.0
			if m.times != nil {
				times = float64(m.times[at+i])
			}
			gain[passed.count(z)] += times * (pos[i] - neg[i])
			sum += times * neg[i]
		}
	}
	right := make([]float64, cuts.Count)
	for k := cuts.Count - 1; k >= 0; k-- {
		sum += gain[k+1]
		right[k] = sum
	}
	return right, nil
}

// RightRows is Right for rows of coded columns with weight one.
type RightRows struct {
	m      *lossModel
	s      *lossScratch
	passed passedCuts
	gain   []int64 // by number of cuts that a row passes
	sum    int64
}

// NewRightRows counts rows of cols, whose codes may change between calls of Add.
func NewRightRows(sp *feature.Space, cols []column.Column, coef []float64, cuts engine.Cuts) *RightRows {
	m := newExactModel(sp, cols, newTerms(engine.LossUnits{Scale: 1}, engine.Loss{}, coef, reachOf(sp, coef)))
	return &RightRows{m, newLossScratch(len(m.tables)), newPassedCuts(cuts), make([]int64, cuts.Count+1), 0}
}

// Add counts the first rows of cols, with these labels; positive is 1 for a positive label.
func (r *RightRows) Add(labels []uint8, positive *[1 << 8]uint8) {
	for at := 0; at < len(labels); at += lossBlock {
		n := min(lossBlock, len(labels)-at)
		r.m.scoreBlock(at, n, r.s)
		for i, z := range r.s.score[:n] {
			if positive[labels[at+i]] == 1 {
				r.gain[r.passed.count(z)]++
				continue
			}
			r.gain[r.passed.count(z)]--
			r.sum++
		}
	}
}

// AddTo adds the counts, one for each cut, to right.
func (r *RightRows) AddTo(right []int64) {
	sum := r.sum
	for k := len(right) - 1; k >= 0; k-- {
		sum += r.gain[k+1]
		right[k] += sum
	}
}
