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
	if err := acct.Charge(pl.bill); err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	st, err := pl.begin(ctx, tab, exit)
	if err != nil {
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

// model puts the start and the released shapes together.
func (pl *Plan) model(st *start, fit []shape, acct learn.Account, exit *mech.Exit) *model.Model {
	add := &model.Additive{Intercept: st.score.Intercept}
	var cols []int
	for _, sh := range st.score.Shapes {
		cols = append(cols, sh.Column)
		add.Shapes = append(add.Shapes, model.Shape{Column: pl.s.Columns[sh.Column].Name, Edges: sh.Edges, LogOdds: sh.Steps, Noise: make([]float64, len(sh.Steps))})
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
		cols = append(cols, bins.Column)
		add.Shapes = append(add.Shapes, model.Shape{Column: pl.s.Columns[bins.Column].Name, Edges: bins.Edges, LogOdds: sh.steps, Noise: noise})
	}
	slices.Sort(cols)
	return &model.Model{Learner: "additive", Schema: pl.s.Part(cols), Privacy: pl.privacy(acct, exit), Additive: add}
}

func (pl *Plan) privacy(acct learn.Account, exit *mech.Exit) model.Privacy {
	p := model.Privacy{
		Scope: pl.scope, Relation: pl.s.Relation, Unit: pl.s.Unit, Epsilon: pl.Epsilon, Bill: pl.bill,
		Claim: pl.claim(), Counted: acct.Counted(), Seeded: exit.Seeded(), NotPrivate: pl.NotPrivate,
	}
	if pl.NotPrivate {
		p.Scope, p.Claim = dp.Nothing, ""
		p.Statement = "No noise was added. This model protects nothing; it exists for comparison."
		p.Unprotected = []string{"everything about the training rows"}
		return p
	}
	p.Statement = fmt.Sprintf("Whatever %s of one row were, the chance of this exact model changes by at most a factor e^%s.", article(pl.scope), pl.Epsilon)
	if pl.scope == dp.PrivateFeatures {
		p.Unprotected = append(p.Unprotected, "the label and the public columns of every row")
	}
	if pl.s.Relation == dp.ReplaceOne {
		p.Unprotected = append(p.Unprotected, "the number of rows")
	}
	p.Unprotected = append(p.Unprotected,
		"what the model says about people in general, whether or not they are in the table",
		"how long training took and how much memory it used")
	return p
}

func (pl *Plan) claim() string {
	switch {
	case pl.scope == dp.PrivateFeatures:
		return "additive: G-ADDITIVE-1"
	case pl.s.Relation == dp.ReplaceOne:
		return "additive: G-ADDITIVE-2"
	default:
		return "additive: G-ADDITIVE-3"
	}
}

func article(s dp.Scope) string {
	if s == dp.WholeRow {
		return "the whole row (every feature and the label)"
	}
	return "the private columns"
}
