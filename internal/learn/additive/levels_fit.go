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
)

// Fit charges acct, then reads the rows: once for the start, once for all cells,
// and once for each column that is picked, weighed or boosted. After the charge
// it can fail for a fault of the engine or a cancelled context only (1.7).
func (pl *LevelsPlan) Fit(ctx context.Context, tab engine.Table, acct learn.Account, exit *mech.Exit) (*model.Model, error) {
	if pl.s.Relation == dp.ReplaceOne { // else their number is private, and the declared one was checked
		if err := learn.CheckDelta("additive", pl.Delta, tab.Rows()); err != nil {
			return nil, err
		}
	}
	if err := acct.Charge(ctx, pl.price(), pl.bill); err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	r, err := pl.learn(ctx, tab, exit)
	if err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	return r.pl.model(r, acct, exit), nil
}

// learn makes every release of the bill.
func (pl *LevelsPlan) learn(ctx context.Context, tab engine.Table, exit *mech.Exit) (*levelRounds, error) {
	st, err := pl.begin(ctx, tab, exit)
	if err != nil {
		return nil, err
	}
	if pl, err = pl.cut(ctx, tab, exit, st); err != nil {
		return nil, err
	}
	r, err := newLevelRounds(ctx, pl, tab, st, exit)
	if err == nil {
		err = r.cells(ctx)
	}
	if err == nil && pl.rules.trustShare > 0 {
		err = r.weigh(ctx)
	}
	if err == nil {
		err = r.boost(ctx)
	}
	return r, err
}

// cut returns the plan with the bins that the schema asks to be found.
func (pl *LevelsPlan) cut(ctx context.Context, tab engine.Table, exit *mech.Exit, st *levelStart) (*LevelsPlan, error) {
	done := *pl
	var err error
	done.private, err = pl.counts.cut(ctx, tab, exit, pl.private, st.rows)
	return &done, err
}

// model puts the start and the released shapes together.
func (pl *LevelsPlan) model(r *levelRounds, acct learn.Account, exit *mech.Exit) *model.Model {
	add := &model.AdditiveLevels{Intercepts: r.start.scores}
	var cols []int
	for q := range r.start.shapes {
		sh := &r.start.shapes[q]
		cols = append(cols, sh.Column)
		out := model.LevelShape{Column: pl.s.Columns[sh.Column].Name, Edges: sh.Edges}
		for _, steps := range sh.Steps {
			steps = sh.ByLevel(steps)
			out.LogShares, out.Noise = append(out.LogShares, steps), append(out.Noise, make([]float64, len(steps)))
		}
		add.Shapes = append(add.Shapes, out)
	}
	for k := range r.fit {
		if !r.fit[k].used {
			continue
		}
		cols = append(cols, pl.private[k].Column)
		add.Shapes = append(add.Shapes, pl.shape(k, &r.fit[k]))
	}
	slices.Sort(cols)
	privacy := learn.Deal{Schema: pl.s, Scope: pl.scope, Epsilon: pl.Epsilon, Delta: pl.Delta, Bill: pl.bill, Claim: "additive: G-ADDITIVE-5", NotPrivate: pl.NotPrivate}.Privacy(acct, exit)
	return &model.Model{Learner: "additive", Schema: pl.s.Part(cols), Privacy: privacy, AdditiveLevels: add}
}

// levelsPart is how much of the line between the middles of bins is drawn. A line
// cuts peaks off, and some of many levels have a peak in some bin.
const levelsPart = 0.5

// shape is what the model keeps of private column k.
func (pl *LevelsPlan) shape(k int, sh *levelShape) model.LevelShape {
	bins := &pl.private[k]
	out := model.LevelShape{Column: pl.s.Columns[bins.Column].Name, Edges: bins.Edges}
	steps, noise := sh.final()
	if !pl.NotPrivate && slopes(pl.s, bins) {
		out.Edges, steps = slope(pl.s, bins, levelsPart, steps...)
		_, noise = slope(pl.s, bins, levelsPart, noise...)
	}
	for level := range steps {
		out.LogShares, out.Noise = append(out.LogShares, bins.ByLevel(steps[level])), append(out.Noise, bins.ByLevel(noise[level]))
	}
	return out
}

// final is what the steps count for, and the standard deviations of that.
func (sh *levelShape) final() (steps, noise [][]float64) {
	for level := range sh.steps {
		steps, noise = append(steps, nil), append(noise, nil)
		for b, x := range sh.steps[level] {
			steps[level] = append(steps[level], sh.weight*x)
			noise[level] = append(noise[level], sh.weight*math.Sqrt(sh.variance[level][b]))
		}
	}
	return steps, noise
}

var _ learn.Plan = (*LevelsPlan)(nil)
