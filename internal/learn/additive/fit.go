// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
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
	if err := acct.Charge(ctx, pl.price(), pl.bill); err != nil {
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
	if pl.NotPrivate {
		if err := r.greedily(ctx); err != nil {
			return nil, fmt.Errorf("additive: %w", err)
		}
	}
	return r.pl.model(st, r.fit, acct, exit), nil
}

// cut returns the plan with the bins that the schema asks to be found.
func (pl *Plan) cut(ctx context.Context, tab engine.Table, exit *mech.Exit, st *start) (*Plan, error) {
	done := *pl
	var err error
	done.private, err = pl.counts.cut(ctx, tab, exit, pl.private, st.rows)
	if err == nil {
		done.recross()
	}
	return &done, err
}

// model puts the start and the released shapes together.
func (pl *Plan) model(st *start, fit []shape, acct learn.Account, exit *mech.Exit) *model.Model {
	add := &model.Additive{Intercept: st.score.Intercept}
	var cols []int
	put := func(bins *feature.Bins, steps, variance []float64) {
		noise, edges := make([]float64, len(steps)), bins.Edges
		for b, v := range variance {
			noise[b] = math.Sqrt(v)
		}
		c := &pl.s.Columns[bins.Column]
		cols = append(cols, bins.Column)
		if bins.Second != nil {
			cols = append(cols, bins.Second.Column)
			add.Pairs = append(add.Pairs, model.PairShape{Columns: [2]string{c.Name, pl.s.Columns[bins.Second.Column].Name},
				Edges: [2][]float64{bins.Edges, bins.Second.Edges}, LogOdds: bins.ByLevel(steps), Noise: bins.ByLevel(noise)})
			return
		}
		follow(c.Monotone, steps, variance)
		if variance != nil && !pl.NotPrivate && slopes(pl.s, bins) {
			var finer [][]float64
			edges, finer = slope(pl.s, bins, 1, steps, noise)
			steps, noise = finer[0], finer[1]
		}
		add.Shapes = append(add.Shapes, model.Shape{Column: c.Name, Edges: edges, LogOdds: bins.ByLevel(steps), Noise: bins.ByLevel(noise)})
	}
	for k := range st.score.Shapes {
		put(&st.score.Shapes[k].Bins, st.score.Shapes[k].Steps, nil)
	}
	for k := range fit {
		if fit[k].used {
			put(&pl.private[k], fit[k].steps, fit[k].variance)
		}
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
