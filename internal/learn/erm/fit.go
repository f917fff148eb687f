// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
)

// Fit reads the rows once per gradient. It fails only for a fault of the engine or a cancelled
// context.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	views, err := perturbed.OneVersusRest(g) // every fit reads the same rows
	if err != nil {
		return nil, fmt.Errorf("erm: %w", err)
	}
	m := &model.Model{
		Learner: "erm",
		Schema:  pl.s.Part(pl.space.Columns),
		Privacy: pl.privacyStatement(g),
		Spaces:  []model.SpaceSpec{model.SpecOf(pl.s, pl.space)},
	}
	plans := pl.parts
	if plans == nil { // a label of two classes
		plans = []*Plan{pl}
	}
	var fits []*model.Logistic
	for k, view := range views {
		one, err := plans[k].fitBinary(view, g.Units())
		if err != nil {
			return nil, fmt.Errorf("erm: %w", err)
		}
		fits = append(fits, one)
	}
	m.Classifier = model.OneVersusRestOf(fits)
	return m, nil
}

// fitBinary is one binary fit on n rows.
func (pl *Plan) fitBinary(rows *perturbed.Rows, n int) (*model.Logistic, error) {
	p := pl.problemOf(n)
	w, err := rows.Minimise(p)
	if err != nil {
		return nil, err
	}
	l := pl.unscaleCoefficients(w, p.RowScale())
	if pl.ask > 0 {
		err = pl.chooseThreshold(rows, p, l)
	}
	return l, err
}

// unscaleCoefficients turns released coefficients of scaled rows into coefficients of
// features.
func (pl *Plan) unscaleCoefficients(w []float64, scale float64) *model.Logistic {
	for i := range w {
		w[i] *= scale
	}
	d := len(w) - 1
	l := &model.Logistic{Coef: w[:d], Bias: w[d]}
	if pl.Norm < 1 { // else no row is shortened
		l.Norm = pl.Norm / scale
	}
	return l
}

func (pl *Plan) privacyStatement(g *guard.Guard) model.Privacy {
	if pl.Noise != Laplace {
		return learn.State(g, pl.claimID(), "the last bits of the noise: it is drawn in floating-point arithmetic and snapped "+
			"to a public grid")
	}
	return learn.State(g, pl.claimID())
}

func (pl *Plan) claimID() string {
	switch {
	case pl.parts != nil:
		return "erm: G-ERM-4"
	case pl.ask > 0:
		return "erm: G-ERM-6"
	case pl.Method == Output:
		return "erm: G-ERM-1"
	case pl.Mode == CMS11:
		return "erm: G-ERM-2"
	}
	return "erm: G-ERM-3"
}
