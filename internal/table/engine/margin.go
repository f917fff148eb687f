// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Loss is a convex loss of a margin z, the score where the label is positive
// and its opposite elsewhere. Its slope lies in [-1, 0]. The zero value is the
// logistic loss log(1+exp(-z)).
type Loss struct {
	// Huber, where > 0, is the half-width h of the Huber-hinge: the hinge
	// max(0, 1-z), with the parabola (1+h-z)²/(4h) in place of its corner where
	// |1-z| ≤ h.
	Huber float64
}

// Curvature is the largest second derivative of the loss.
func (l Loss) Curvature() float64 {
	if l.Huber > 0 {
		return 1 / (2 * l.Huber)
	}
	return 0.25
}

// At is the loss of one margin with its first two derivatives.
func (l Loss) At(z float64) (value, slope, curve float64) {
	if l.Huber > 0 {
		switch h := l.Huber; {
		case z > 1+h:
			return 0, 0, 0
		case z < 1-h:
			return 1 - z, -1, 0
		default:
			u := 1 + h - z
			return float64(u*u) / (4 * h), -u / (2 * h), 1 / (2 * h)
		}
	}
	e := math.Exp(-math.Abs(z))
	value, slope = math.Log1p(e), -e/(1+e)
	if z < 0 {
		value, slope = value-z, -1/(1+e)
	}
	return value, slope, e / ((1 + e) * (1 + e))
}

// Rows says how a row enters: as t·(features, 1), the last entry being the
// intercept's, with t = min(Scale, Norm/‖(features, 1)‖). So no row is longer
// than Norm. It counts Weights[code] times, by the code of its label in the
// whole table, also where that is asked Against one level; nil: once.
type Rows struct {
	Scale, Norm float64
	Weights     []float64
}

// shortensRows reports whether some row of sp is shortened below Scale.
func (r Rows) shortensRows(sp *feature.Space) bool {
	return r.Scale*math.Sqrt(float64(len(sp.Columns)+1)) > r.Norm
}

// MarginSums evaluates Σ_i pos_i·l(coef·x_i) + neg_i·l(-coef·x_i) over rows
// x_i shaped by r, with its gradient and Hessian in coef. Arguments, cost and
// errors are those of LogisticSums.
func MarginSums(ctx context.Context, sp *feature.Space, cols []column.Column, rows int, weigh Weigh, l Loss, r Rows, coef []float64) (*LossSums, error) {
	return sumLosses(ctx, sp, cols, rows, weigh, &shape{l, r, r.shortensRows(sp)}, coef)
}

// shape is a loss and its rows.
type shape struct {
	loss  Loss
	rows  Rows
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
			square += float64(s.value[k][i] * s.value[k][i])
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
		z := float64(t * s.score[i])
		v, d, c := 0.0, 0.0, 0.0
		if s.pos[i] != 0 {
			l, slope, curve := sh.loss.At(z)
			v, d, c = float64(s.pos[i]*l), float64(s.pos[i]*slope), float64(s.pos[i]*curve)
		}
		if s.neg[i] != 0 {
			l, slope, curve := sh.loss.At(-z)
			v, d, c = v+float64(s.neg[i]*l), d-float64(s.neg[i]*slope), c+float64(s.neg[i]*curve)
		}
		sum += v
		s.slope[i], s.curve[i] = float64(t*d), float64(t*t)*c
	}
	return sum
}
