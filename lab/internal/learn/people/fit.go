// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Fit refuses an empty table, charges acct, then reads the rows once (twice with a public part).
// After the charge it can fail for a fault of the engine or a cancelled context only (1.6): one
// class or one row trains like anything else.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	in := extend.Open(g)
	tab, err := in.OneRow()
	if err != nil {
		return nil, fmt.Errorf("people: %w", err)
	}
	list := pl.listCandidates(g.Coins())
	if pl.public != nil {
		public, err := pl.publicClassifier(ctx, tab)
		if err != nil {
			return nil, fmt.Errorf("people: public columns: %w", err)
		}
		list = append(list, public)
	}
	patterns, err := tab.Mistakes(ctx, pl.space, list)
	if err != nil {
		return nil, fmt.Errorf("people: %w", err)
	}
	rows := newSmooth(patterns, tab.Rows(), pl.Kappa)
	var members []model.Member
	add := func(k int, vote float64) {
		members = append(members, model.Member{Threshold: list[k], Vote: vote})
		rows.moveMargins(k, vote)
	}
	if pl.public != nil {
		// Its first vote reads public columns and labels only (1.4). Later ones
		// are chosen and paid for like any other.
		k := len(list) - 1
		add(k, voteOf(publicError(patterns, k)))
	}
	for t := range pl.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("people: %w", err)
		}
		k, werr, err := pl.releaseRound(t, rows, len(list), in)
		if err != nil {
			return nil, fmt.Errorf("people: %w", err)
		}
		add(k, voteOf(werr))
	}
	return pl.buildModel(members, g), nil
}

// publicClassifier is fitted to public columns and the public label: no private
// cell is read, so it is free (1.4).
func (pl *Plan) publicClassifier(ctx context.Context, tab engine.Table) (feature.Threshold, error) {
	groups, err := tab.Groups(ctx, pl.public)
	if err != nil {
		return feature.Threshold{}, err
	}
	sp, err := feature.NewSpace(pl.s, pl.Encoding, pl.public)
	if err != nil {
		return feature.Threshold{}, err
	}
	weights, total := make([][]float64, len(groups.Counts)), 0.0
	for label, counts := range groups.Counts {
		for _, c := range counts {
			weights[label] = append(weights[label], float64(c))
			total += float64(c)
		}
	}
	positive := pl.s.Label.Positive
	// The ridge is scikit-learn's default, C = 1.
	best, err := logistic.FitGroups(ctx, sp, groups, weights[positive], weights[1-positive], 1/total, nil)
	if err != nil {
		return feature.Threshold{}, err
	}
	h := logistic.Threshold(best.Coef)
	// The public columns come first in the space of all voters.
	h.Coef = append(h.Coef, make([]float64, pl.space.Width()-sp.Width())...)
	return h, nil
}

// publicError is the share of rows that classifier k is wrong about, unweighted.
func publicError(p *engine.Patterns, k int) float64 {
	wrong, all := 0.0, 0.0
	for i, n := range p.Count {
		wrong += float64(p.Bits[i*p.Words+k/64]>>(k%64)&1) * float64(n)
		all += float64(n)
	}
	return wrong / all
}

// releaseRound releases what round t costs: which classifier, and its noisy weighted
// error.
func (pl *Plan) releaseRound(t int, rows *smooth, candidates int, in guard.Inside) (
	k int, werr float64, err error,
) {
	moves := sensitivity(rows.total)
	wrong := make([]int64, candidates)
	scores := make([]mech.Ratio, candidates)
	total := int64(rows.total)
	for c := range scores {
		wrong[c] = int64(rows.wrongWeight(c))
		// |err − 1/2|: a classifier that is mostly wrong is worth as much as one
		// mostly right. It moves by at most what err does, up or down.
		edge := total - 2*wrong[c]
		scores[c] = mech.Ratio{Num: max(edge, -edge), Den: 2 * total}
	}
	// 1.5: rows meet noise
	if k, err = in.Select(pickLabel(t), pl.selectorFor(pl.share[t].pick, 2*moves), scores); err != nil {
		return 0, 0, err
	}
	// 1.5: rows meet noise
	out, err := in.Release(errLabel(t), pl.noiseFor(pl.share[t].err, moves), mech.Ratio{Num: wrong[k], Den: total})
	if err != nil {
		return 0, 0, err
	}
	return k, out[0], nil
}

// surest bounds a vote: noise may carry an error out of [0, 1], and an error of
// 0 would end every argument.
const surest = 0.1

// voteOf is AdaBoost's vote, ½·ln((1−err)/err), err being clamped to
// [surest, 1−surest].
func voteOf(err float64) float64 {
	e := min(1-surest, max(surest, err))
	return 0.5 * math.Log((1-e)/e)
}

func (pl *Plan) noiseFor(eps dp.Epsilon, l1 float64) mech.Mechanism {
	if pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.LaplaceFor(eps, l1, 1))
}

func (pl *Plan) selectorFor(eps dp.Epsilon, spread float64) mech.Selector {
	if pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.PermuteAndFlipFor(eps, spread))
}

// buildModel is made of released values and public facts.
func (pl *Plan) buildModel(members []model.Member, g *guard.Guard) *model.Model {
	return &model.Model{
		Learner:    "people",
		Schema:     pl.s.Part(pl.modelColumns()),
		Privacy:    learn.State(g, pl.claimName()),
		Spaces:     []model.SpaceSpec{model.SpecOf(pl.s, pl.space)},
		Classifier: &model.Votes{Members: members},
	}
}
