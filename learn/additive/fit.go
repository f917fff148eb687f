// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/model"
)

// Fit charges acct, then reads the rows: once for the start and once for all
// rounds, or once for each round that looks at what earlier ones left. After
// the charge it can fail for a fault of the engine or a cancelled context only
// (1.7): one class or one row trains like anything else.
func (pl *Plan) Fit(ctx context.Context, tab engine.Table, acct learn.Account, exit *mech.Exit) (*model.Model, error) {
	if pl.s.Relation == dp.ReplaceOne { // else their number is private, and the declared one was checked
		if err := learn.CheckDelta("additive", pl.Delta, tab.Rows()); err != nil {
			return nil, err
		}
	}
	if err := acct.Charge(pl.price(), pl.bill); err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	st, err := pl.begin(ctx, tab, exit)
	if err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	if pl, err = pl.cut(ctx, tab, exit, st); err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	r := newRounds(pl, tab, st, exit)
	for t := range pl.rules.rounds {
		if err := r.run(ctx, t); err != nil {
			return nil, fmt.Errorf("additive: %w", err)
		}
	}
	return pl.model(st, r.fit, acct, exit), nil
}

// cut returns the plan with the bins that the schema asks to be found.
func (pl *Plan) cut(ctx context.Context, tab engine.Table, exit *mech.Exit, st *start) (*Plan, error) {
	done := *pl
	var err error
	done.private, err = pl.counts.cut(ctx, tab, exit, pl.private, st.rows)
	return &done, err
}

// model puts the start and the released shapes together.
func (pl *Plan) model(st *start, fit []shape, acct learn.Account, exit *mech.Exit) *model.Model {
	add := &model.Additive{Intercept: st.score.Intercept}
	var cols []int
	for _, sh := range st.score.Shapes {
		follow(pl.s.Columns[sh.Column].Monotone, sh.Steps, nil)
		cols = append(cols, sh.Column)
		add.Shapes = append(add.Shapes, model.Shape{Column: pl.s.Columns[sh.Column].Name, Edges: sh.Edges, LogOdds: sh.ByLevel(sh.Steps), Noise: make([]float64, len(sh.ByLevel(sh.Steps)))})
	}
	for k, sh := range fit {
		if !sh.used {
			continue
		}
		bins := &pl.private[k]
		noise := make([]float64, len(sh.variance))
		for b, v := range sh.variance {
			noise[b] = math.Sqrt(v)
		}
		follow(pl.s.Columns[bins.Column].Monotone, sh.steps, sh.variance)
		cols = append(cols, bins.Column)
		add.Shapes = append(add.Shapes, model.Shape{Column: pl.s.Columns[bins.Column].Name, Edges: bins.Edges, LogOdds: bins.ByLevel(sh.steps), Noise: bins.ByLevel(noise)})
	}
	slices.Sort(cols)
	return &model.Model{Learner: "additive", Schema: pl.s.Part(cols), Privacy: pl.privacy(acct, exit), Additive: add}
}

func (pl *Plan) privacy(acct learn.Account, exit *mech.Exit) model.Privacy {
	return learn.Deal{Schema: pl.s, Scope: pl.scope, Epsilon: pl.Epsilon, Delta: pl.Delta, Bill: pl.bill, Claim: pl.claim(), NotPrivate: pl.NotPrivate}.Privacy(acct, exit)
}

func (pl *Plan) claim() string {
	switch {
	case pl.Delta > 0:
		return "additive: G-ADDITIVE-4"
	case pl.scope == dp.PrivateFeatures:
		return "additive: G-ADDITIVE-1"
	case pl.s.Relation == dp.ReplaceOne:
		return "additive: G-ADDITIVE-2"
	default:
		return "additive: G-ADDITIVE-3"
	}
}
