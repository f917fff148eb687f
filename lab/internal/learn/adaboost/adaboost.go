// SPDX-License-Identifier: Apache-2.0

// Package adaboost boosts weak classifiers without privacy (Algorithm 1 of Shen
// et al.; Freund and Schapire 1997).
//
// Claim: none. It is the non-private twin of the boosting learners. It refuses
// private data unless told that nothing need be protected.
//
//	paper    here
//	T        Params.Rounds
//	w_i      weight; scaled to add up to 1, which moves no error
//	err_t    weighted error, werr
//	α_t      model.Member.Vote
//
// A label of K > 2 levels takes base stump and the vote of SAMME (Zhu et al.,
// "Multi-class AdaBoost", 2009): log(K-1) more. Where the schema declares weights
// of levels, rows start with them.
//
// Rows that agree on every column in use are one group, so a round costs
// O(groups·columns) plus the weak learner's own time; over random classifiers
// rows with equal mistakes are one group and a round costs O(patterns).
//
// Prefer logistic for calibrated scores.
package adaboost

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Base is the weak learner.
type Base string

const (
	Logistic Base = "logistic" // weighted ridge logistic regression
	Stump    Base = "stump"    // the best decision stump
	Random   Base = "random"   // coefficients and intercept uniform in [-1, 1]
)

// Params are the public choices behind one fit.
type Params struct {
	Rounds int // T, in [1, 10000]
	Base   Base
	// Reg is the ridge of the logistic base on its weighted mean loss, finite
	// and ≥ 0; 0 means 1/n. It must be 0 for another base.
	Reg        float64
	Encoding   feature.Encoding
	Columns    nonprivate.Columns
	NotPrivate bool // the operator's word that private data need no protection here
}

const maxRounds = 10_000

// plan is a checked Params. It holds no data.
type plan struct {
	Params
	use      *nonprivate.Use
	space    *feature.Space
	positive int       // code of the positive label; -1 if there is none
	weights  []float64 // of a row, by level
}

// Plan checks p against the schema; it fails with a *dp.ParamError. The number
// of rows moves nothing here and may be 0, unknown.
func (p Params) Plan(s *schema.Schema, rows int) (learn.Plan, error) {
	bad := func(param, want string, got any) (learn.Plan, error) {
		return nil, &dp.ParamError{Op: "adaboost", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case p.Rounds < 1 || p.Rounds > maxRounds:
		return bad("rounds", fmt.Sprintf("must be from 1 to %d", maxRounds), p.Rounds)
	case p.Base != Logistic && p.Base != Stump && p.Base != Random:
		return bad("base", `must be "logistic", "stump" or "random"`, fmt.Sprintf("%q", p.Base))
	case !(p.Reg >= 0) || math.IsInf(p.Reg, 1):
		return bad("reg", "must be finite and > 0, or 0 for 1/n", p.Reg)
	case s.Classes() != 2 && p.Base != Stump:
		return bad("base", fmt.Sprintf("must be %q for a label of %d levels", Stump, s.Classes()), p.Base)
	case s.Label.Weights != nil && p.Base == Random:
		return bad("base", fmt.Sprintf("must be %q or %q for a label whose levels have weights", Stump, Logistic), p.Base)
	case p.Base != Logistic && p.Reg != 0:
		return bad("reg", fmt.Sprintf("must be 0 over base %q, which has no ridge", p.Base), p.Reg)
	}
	use, err := nonprivate.Choose("adaboost", s, p.Columns, p.NotPrivate)
	if err != nil {
		return nil, err
	}
	sp, err := feature.NewSpace(s, p.Encoding, use.Cols)
	if err != nil {
		return nil, err
	}
	weights := s.Label.RowWeights()
	if weights == nil {
		weights = slices.Repeat([]float64{1}, s.Classes())
	}
	return &plan{Params: p, use: use, space: sp, positive: s.Label.Positive, weights: weights}, nil
}

// Terms are what one Fit protects and pays.
func (pl *plan) Terms() guard.Terms {
	return guard.Terms{Op: "adaboost", Scope: dp.Nothing, Price: dp.Price{}, Bill: nil, NotPrivate: true}
}

// Facts are the plan in words and numbers, from public choices alone.
func (pl *plan) Facts() []learn.Fact {
	return append(pl.use.Facts(),
		learn.Fact{Key: "rounds", Value: pl.Rounds, Text: fmt.Sprintf("%d rounds over base %s", pl.Rounds, pl.Base)},
		learn.Fact{Key: "features", Value: pl.space.Width(),
			Text: fmt.Sprintf("%d features, %s encoding", pl.space.Width(), pl.Encoding)},
	)
}

// Fit charges acct the empty bill, then reads the rows once. Only the random
// base draws randomness.
func (pl *plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	tab, err := g.Table()
	if err != nil {
		return nil, fmt.Errorf("adaboost: %w", err)
	}
	m := &model.Model{
		Learner: "adaboost",
		Schema:  pl.use.Schema(),
		Privacy: pl.use.Privacy(g.Counted(), g.Seeded()),
		Spaces:  []model.SpaceSpec{pl.use.Space(pl.Encoding)},
	}
	if len(pl.weights) == 2 {
		m.Classifier, err = pl.boostThresholds(ctx, tab, g.Coins())
	} else {
		m.Classifier, err = pl.boostSplits(ctx, tab)
	}
	if err != nil {
		return nil, fmt.Errorf("adaboost: %w", err)
	}
	return m, nil
}

// boostThresholds boosts thresholds about two levels.
func (pl *plan) boostThresholds(ctx context.Context, tab engine.Table, coins guard.Coins) (*model.Votes, error) {
	h, err := pl.newWeak(ctx, tab, coins)
	if err != nil {
		return nil, err
	}
	voters, err := boostWeak(ctx, pl.Rounds, 2, h)
	if err != nil {
		return nil, err
	}
	v := &model.Votes{}
	for _, one := range voters {
		v.Members = append(v.Members, model.Member{Threshold: one.c, Vote: one.vote})
	}
	return v, nil
}
