// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"context"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/random"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/lab/internal/learn/stump"
)

// newWeak asks the table the base's one question.
func (pl *plan) newWeak(ctx context.Context, tab engine.Table, coins guard.Coins) (weak[feature.Threshold], error) {
	if pl.Base == Random {
		return drawAll(ctx, tab, pl.space, pl.Rounds, coins)
	}
	g, err := tab.Groups(ctx, pl.use.Cols)
	if err != nil {
		return nil, err
	}
	gs := &groups{sp: pl.space, g: g, positive: pl.positive, weights: pl.weights}
	if pl.Base == Stump {
		search := stump.NewSearch(pl.space, g)
		gs.learn = func(_ context.Context, pos, neg []float64) (feature.Threshold, error) {
			th, _ := search.Best(pos, neg)
			return th, nil
		}
		return gs, nil
	}
	reg := pl.Reg
	if reg == 0 {
		reg = 1 / float64(tab.Rows())
	}
	var warm []float64 // the weights move little from round to round
	gs.learn = func(ctx context.Context, pos, neg []float64) (feature.Threshold, error) {
		best, err := logistic.FitGroups(ctx, pl.space, g, pos, neg, reg, warm)
		if err != nil {
			return feature.Threshold{}, err
		}
		warm = best.Coef
		return logistic.Threshold(best.Coef), nil
	}
	return gs, nil
}

// groups is a weak learner that fits to weights. Its cells are the groups'
// positive rows, then the groups' negative rows.
type groups struct {
	sp       *feature.Space
	g        *engine.Groups
	positive int
	weights  []float64 // by level
	learn    func(ctx context.Context, pos, neg []float64) (feature.Threshold, error)
}

func (gs *groups) startWeights() []float64 {
	w := make([]float64, 2*gs.g.Len)
	for label, counts := range gs.g.Counts {
		half := w[gs.g.Len:]
		if label == gs.positive {
			half = w[:gs.g.Len]
		}
		for g, n := range counts {
			half[g] = float64(n) * gs.weights[label]
		}
	}
	return w
}

func (gs *groups) fitWeak(ctx context.Context, _ int, w []float64, wrong []bool) (feature.Threshold, error) {
	n := gs.g.Len
	th, err := gs.learn(ctx, w[:n], w[n:])
	if err != nil {
		return feature.Threshold{}, err
	}
	answers := make([]uint64, n) // one threshold: one word per group
	feature.NewScorer(gs.sp, []feature.Threshold{th}).Bind(gs.g.Cols).Answers(0, answers)
	for g, a := range answers {
		wrong[g], wrong[n+g] = a == 0, a == 1
	}
	return th, nil
}

// draws is a weak learner that looks at no weights. Its cells are the mistake
// patterns of all its classifiers, counted in one pass.
type draws struct {
	hs       []feature.Threshold
	patterns *engine.Patterns
}

func drawAll(ctx context.Context, tab engine.Table, sp *feature.Space, rounds int, coins guard.Coins) (*draws, error) {
	d := &draws{}
	for range rounds {
		d.hs = append(d.hs, random.Threshold(coins, sp, true))
	}
	var err error
	d.patterns, err = tab.Mistakes(ctx, sp, d.hs)
	return d, err
}

func (d *draws) startWeights() []float64 {
	w := make([]float64, len(d.patterns.Count))
	for c, n := range d.patterns.Count {
		w[c] = float64(n)
	}
	return w
}

func (d *draws) fitWeak(_ context.Context, round int, _ []float64, wrong []bool) (feature.Threshold, error) {
	p := d.patterns
	for c := range wrong {
		wrong[c] = p.Bits[c*p.Words+round/64]>>(round%64)&1 == 1
	}
	return d.hs[round], nil
}
