// SPDX-License-Identifier: Apache-2.0

// Package logistic fits ridge logistic regression without privacy.
//
// It has no privacy claim. It is the non-private baseline for private learners, on all columns or on
// the public ones alone (as in Shen et al., section 5.1), and the public classifier inside brc. It
// refuses private data unless the caller states that nothing needs protection.
//
// It minimises
//
//	(1/n) Σ_i log(1 + exp(-y_i(coef·x_i + intercept))) + ½·Reg·‖coef‖²,  y_i = ±1,
//
// over coefficients and an intercept that is not penalised, by damped Newton steps down to a gradient
// of length 1e-9; scikit-learn's LogisticRegression minimises the same with C = 1/(Reg·n). Each step
// is one pass over the rows and one solve: O(n·columns² + d³), d features; memory O(d²).
//
// A label of K > 2 levels takes K fits, each level against the rest. If the schema declares weights of
// levels, a row's term is multiplied by its level's weight divided by the largest; the mean still
// divides by n.
//
// Prefer it to adaboost for calibrated scores; prefer adaboost with stumps if the label depends on
// thresholds within columns.
package logistic

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	// Reg is the coefficient of ½‖coef‖² on the mean loss, finite and ≥ 0; 0 means 1/n, scikit-learn's
	// default (C = 1). A ridge is always needed: without one there would be no minimum if a hyperplane
	// separates the rows.
	Reg        float64
	Encoding   feature.Encoding
	Columns    nonprivate.Columns
	NotPrivate bool // the operator states that private data need no protection here
}

// plan is a checked Params. It holds no data.
type plan struct {
	Params
	use     *nonprivate.Use
	space   *feature.Space
	weights []float64 // of rows, by level; nil: all 1
}

// Plan checks p against the schema; it fails with a *dp.ParamError. The number of rows has no effect
// and may be 0, unknown.
func (p Params) Plan(s *schema.Schema, rows int) (learn.Plan, error) {
	switch { // written so that NaN fails
	case !(p.Reg >= 0) || math.IsInf(p.Reg, 1):
		return nil, &dp.ParamError{Op: "logistic", Param: "reg", Want: "must be finite and > 0, or 0 for 1/n", Got: p.Reg}
	}
	use, err := nonprivate.Choose("logistic", s, p.Columns, p.NotPrivate)
	if err != nil {
		return nil, err
	}
	sp, err := feature.NewSpace(s, p.Encoding, use.Cols)
	if err != nil {
		return nil, err
	}
	return &plan{Params: p, use: use, space: sp, weights: s.Label.RowWeights()}, nil
}

// Terms returns what one Fit protects and its empty bill.
func (pl *plan) Terms() guard.Terms {
	return guard.Terms{Op: "logistic", Scope: dp.Nothing, Price: dp.Price{}, Bill: nil, NotPrivate: true}
}

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *plan) Facts() []learn.Fact {
	reg := "1/n"
	if pl.Reg > 0 {
		reg = learn.Digits(pl.Reg, 4)
	}
	return append(pl.use.Facts(),
		learn.Fact{Key: "features", Value: pl.space.Width(),
			Text: fmt.Sprintf("%s, %s encoding", plaintext.Count(pl.space.Width(), "feature"), pl.Encoding)},
		learn.Fact{Key: "reg", Value: pl.Reg, Text: fmt.Sprintf("½·%s·‖coef‖² on the mean loss", reg)},
	)
}

// Fit charges acct the empty bill, then reads the rows once per Newton step. It
// draws no randomness.
func (pl *plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	tab, err := g.Table()
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	reg := pl.Reg
	if reg == 0 {
		reg = 1 / float64(tab.Rows())
	}
	m := &model.Model{
		Learner: "logistic",
		Schema:  pl.use.Schema(),
		Privacy: pl.use.Privacy(g.Counted(), g.Seeded()),
		Spaces:  []model.SpaceSpec{pl.use.Space(pl.Encoding)},
	}
	var parts []*model.Logistic
	for _, view := range engine.OneVersusRest(tab) {
		one, err := pl.fitBinary(ctx, view, reg)
		if err != nil {
			return nil, fmt.Errorf("logistic: %w", err)
		}
		parts = append(parts, one)
	}
	m.Classifier = model.OneVersusRestOf(parts)
	return m, nil
}

// fitBinary is one binary fit.
func (pl *plan) fitBinary(ctx context.Context, tab engine.Table, reg float64) (*model.Logistic, error) {
	asIs := engine.Rows{Scale: 1, Norm: math.MaxFloat64, Weights: pl.weights}
	sums := func(coef []float64) (*engine.LossSums, error) {
		return solver.Losses{Space: pl.space, Rows: asIs, Coef: coef, Value: true, Hess: true}.Floats(ctx, tab)
	}
	d := pl.space.Width()
	best, err := minimiseSums(sums, float64(tab.Rows()), reg, make([]float64, d+1))
	if err != nil {
		return nil, err
	}
	return &model.Logistic{Coef: best.Coef[:d], Bias: best.Coef[d]}, nil
}
