// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn/logistic"
)

// publicSide is the public classifier of Algorithm 2 with its own weights. It
// reads public columns and the public label only, its weights are changed by
// its own rounds only, so everything here is free (1.5; privacy guide 2.1.4).
type publicSide struct {
	space      *feature.Space
	groups     *engine.Groups
	weights    [][]float64 // per label and group; un-normalised, as printed
	positive   int
	coef       []float64
	classifier feature.Threshold
	err        float64
}

// ridge is the weight of ½‖coef‖² in the summed loss of the public classifier:
// scikit-learn's default, C = 1.
const ridge = 1

// newPublicSide returns nil when everything is private.
func newPublicSide(ctx context.Context, pl *Plan, tab engine.Table) (*publicSide, error) {
	if pl.public == nil {
		return nil, nil
	}
	groups, err := tab.Groups(ctx, pl.public.Columns)
	if err != nil {
		return nil, err
	}
	p := &publicSide{space: pl.public, groups: groups, positive: pl.s.Label.Positive}
	for _, counts := range groups.Counts {
		w := make([]float64, groups.Len)
		for i, c := range counts {
			w[i] = float64(c) // line 2: every row starts at 1
		}
		p.weights = append(p.weights, w)
	}
	return p, p.fit(ctx)
}

// fit runs line 4 and the public half of line 6. It is called again only when
// the weights have changed.
func (p *publicSide) fit(ctx context.Context) error {
	total := 0.0
	for _, w := range p.weights {
		for _, v := range w {
			total += v
		}
	}
	best, err := logistic.FitGroups(ctx, p.space, p.groups, p.weights[p.positive], p.weights[1-p.positive], ridge/total, p.coef)
	if err != nil {
		return err
	}
	p.coef, p.classifier = best.Coef, logistic.Threshold(best.Coef)
	wrong := 0.0
	p.mistakes(func(label, group int) { wrong += p.weights[label][group] })
	p.err = wrong / total
	return nil
}

// reweigh is line 9, then the next round's fit.
func (p *publicSide) reweigh(ctx context.Context, vote float64) error {
	p.mistakes(func(label, group int) { p.weights[label][group] *= math.Exp(vote) })
	return p.fit(ctx)
}

// mistakes calls f for every (label, group) the classifier is wrong about.
func (p *publicSide) mistakes(f func(label, group int)) {
	answers := make([]uint64, p.groups.Len)
	feature.NewScorer(p.space, []feature.Threshold{p.classifier}).Bind(p.groups.Cols).Answers(0, answers)
	for group, a := range answers {
		for label := range p.weights {
			if (a == 1) != (label == p.positive) {
				f(label, group)
			}
		}
	}
}
