// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Fit divides the rows, trains candidates on one part and evaluates them on the other. It releases
// only the selected model, with the name of its candidate, and not the number of runs. No other
// property of the runs may be observable, including their duration.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2: a person trains or judges
	in := extend.Open(g)
	tab, err := in.OneRow()
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	p, err := dealRows(ctx, tab, pl.HeldOut, g.Coins())
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	m, err := pl.pickCandidate(ctx, p, g.Counted(), in.SpendAll())
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	return m, nil
}

// pickCandidate is Fit on rows that have been divided.
func (pl *Plan) pickCandidate(ctx context.Context, p *parts, counted bool, exit *mech.Exit) (
	m *model.Model, err error,
) {
	var at int
	if pl.Method == All {
		at, m, err = pl.selectOne(ctx, p, exit)
	} else {
		at, m, err = pl.stopAtRandom(ctx, p, exit)
	}
	if err != nil {
		return nil, err
	}
	m.Privacy = pl.privacyStatement(at, counted, exit)
	return m, nil
}

// selectOne trains every candidate once and selects by the loss.
func (pl *Plan) selectOne(ctx context.Context, p *parts, exit *mech.Exit) (at int, m *model.Model, err error) {
	models := make([]*model.Model, len(pl.runs))
	scores := make([]mech.Ratio, len(pl.runs))
	for i := range pl.runs {
		var loss mech.Ratio
		if models[i], loss, err = pl.tryCandidate(ctx, p, i, exit); err != nil {
			return 0, nil, err
		}
		scores[i] = mech.Ratio{Num: -loss.Num, Den: loss.Den}
	}
	at = exit.Select("choice by "+string(pl.Loss)+" on held-out rows", pl.choose, scores) // 1.4: rows meet noise
	return at, models[at], nil
}

// stopAtRandom makes a random number of runs and returns the best one: the first with the smallest
// noisy loss.
func (pl *Plan) stopAtRandom(ctx context.Context, p *parts, exit *mech.Exit) (at int, m *model.Model, err error) {
	least := 0.0
	for range pl.law.drawRuns(exit.Public(), pl.Patience) {
		i := int(rng.Below(exit.Public(), uint64(len(pl.runs))))
		candidate, loss, err := pl.tryCandidate(ctx, p, i, exit)
		if err != nil {
			return 0, nil, err
		}
		noisy := exit.Release(string(pl.Loss)+" on held-out rows", pl.judge, loss)[0] // 1.6: rows meet noise
		if m == nil || noisy < least {
			at, m, least = i, candidate, noisy
		}
	}
	return at, m, nil
}

// tryCandidate trains candidate i and evaluates it; its loss is private.
func (pl *Plan) tryCandidate(ctx context.Context, p *parts, i int, exit *mech.Exit) (
	m *model.Model, loss mech.Ratio, err error,
) {
	r := &pl.runs[i]
	if m, err = guard.Train(ctx, r.plan, p.train, guard.Paid(true), exit); err == nil {
		loss, err = p.judgeModel(m, pl.Loss)
	}
	if err != nil {
		return nil, loss, fmt.Errorf("candidate %q: %w", pl.Candidates[i].Name, err)
	}
	return m, loss, nil
}

func (pl *Plan) privacyStatement(at int, counted bool, exit *mech.Exit) model.Privacy {
	p := model.Privacy{
		Scope: pl.scope, Relation: pl.s.Relation, Unit: pl.s.Unit, Epsilon: pl.Epsilon, Bill: pl.bill,
		Claim: "tune: " + pl.claimName(), Counted: counted, Seeded: exit.Seeded(),
		Statement: fmt.Sprintf("Chosen among %d candidates: %s. %s, the chance of this exact "+
			"model and choice changes by at most a factor e^%s.",
			len(pl.Candidates), pl.Candidates[at].Name, learn.SupposeChange(pl.scope, pl.s), pl.Epsilon),
	}
	switch pl.scope {
	case dp.PrivateFeatures:
		p.Unprotected = append(p.Unprotected, "the label and the public columns of every row")
	case dp.FeaturesAndLabel:
		p.Unprotected = append(p.Unprotected, "the public columns of every row")
	case dp.LabelOnly:
		p.Unprotected = append(p.Unprotected, "everything but the label of every row")
	}
	duration := "how long training took and how much memory it used"
	if pl.Method != All {
		duration += ": anyone who sees it can guess the number of runs, and the guarantee does not hold against them"
	}
	p.Unprotected = append(p.Unprotected, learn.UnprotectedCounts(pl.s, pl.scope)...)
	p.Unprotected = append(p.Unprotected,
		"what the model says about people in general, whether or not they are in the table", duration)
	return p
}

func (pl *Plan) claimName() string {
	if pl.Method == All {
		return "G-TUNE-1"
	}
	return "G-TUNE-2"
}
