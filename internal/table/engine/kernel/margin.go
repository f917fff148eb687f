// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// shortensRows reports whether some row of sp is shortened below Scale.
func shortensRows(r engine.Rows, sp *feature.Space) bool {
	return r.Scale*math.Sqrt(float64(len(sp.Columns)+1)) > r.Norm
}

// MarginSums evaluates Σ_i pos_i·l(coef·x_i) + neg_i·l(-coef·x_i) over rows
// x_i shaped by r, with its gradient and Hessian in coef. Arguments, cost and
// errors are those of LogisticSums.
func MarginSums(ctx context.Context, sp *feature.Space, cols []column.Column, rows int, weigh Weigh, l engine.Loss,
	r engine.Rows, coef []float64) (*engine.LossSums, error) {
	return sumLosses(ctx, sp, cols, rows, weigh, &shape{l, r, shortensRows(r, sp)}, coef)
}

// shape is a loss and its rows.
type shape struct {
	loss  engine.Loss
	rows  engine.Rows
	bites bool
}

// fillFactors fills s.factor with t for each row of a block that look has fetched.
func (sh *shape) fillFactors(n int, s *lossScratch) {
	t := s.factor[:n]
	for i := range t {
		t[i] = sh.rows.Scale
	}
	if !sh.bites {
		return
	}
	for i := range t {
		square := 1.0
		for k := range s.value {
			square += s.value[k][i] * s.value[k][i]
		}
		t[i] = min(sh.rows.Scale, sh.rows.Norm/math.Sqrt(square))
	}
}

// fillLosses is losses of a margin: it scales the scores of a block, then fills
// slope and curve so that scatter, which knows features without their factor,
// adds up what is meant: a factor of t in the slope, t² in the curvature.
func (sh *shape) fillLosses(n int, s *lossScratch) (sum float64) {
	sh.fillFactors(n, s)
	for i, t := range s.factor[:n] {
		z := t * s.score[i]
		v, d, c := 0.0, 0.0, 0.0
		if s.pos[i] != 0 {
			l, slope, curve := sh.loss.At(z)
			v, d, c = s.pos[i]*l, s.pos[i]*slope, s.pos[i]*curve
		}
		if s.neg[i] != 0 {
			l, slope, curve := sh.loss.At(-z)
			v, d, c = v+s.neg[i]*l, d-s.neg[i]*slope, c+s.neg[i]*curve
		}
		sum += v
		s.slope[i], s.curve[i] = t*d, t*t*c
	}
	return sum
}
