// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// publicSide is the public classifier of Algorithm 2 with its own weights. It reads public columns and
// the public label only, and only its own rounds change its weights, so that everything here is free
// (1.5).
//
// If the label is private, labeldp releases one noisy statistic of it, and the probabilities from its
// classifier replace the labels: a row belongs to both classes, with these shares (1.8). The rounds of
// the public side therefore remain post-processing.
type publicSide struct {
	space      *feature.Space
	groups     *guard.Groups
	weights    [][]float64 // by label and group; not normalised, as in the paper
	positive   int
	refit      *logistic.Refit
	classifier feature.Threshold
	answers    []uint8   // by group: 1 if the classifier answers positive
	shares     []float64 // by group: the probability of positive, for Scores; otherwise nil
	err        float64
}

// ridge is the weight of ½‖coef‖² in the summed loss of the public classifier:
// scikit-learn's default, C = 1.
const ridge = 1

// newPublicSide returns nil if everything is private. Its first classifier is not fitted yet.
func newPublicSide(ctx context.Context, pl *Plan, g *guard.Guard) (*publicSide, error) {
	if pl.public == nil {
		return nil, nil
	}
	groups, err := g.Groups(pl.public.Columns)
	if err != nil {
		return nil, err
	}
	p := &publicSide{
		space: pl.public, groups: groups, positive: pl.s.Label.Positive,
		refit: logistic.NewRefit(pl.public, &groups.Groups, ridge), answers: make([]uint8, groups.Len),
	}
	if pl.PublicPart == Scores {
		p.shares = make([]float64, groups.Len)
	}
	if pl.labels == nil { // line 2: every row starts at 1
		p.weights, err = groups.Classes()
		return p, err
	}
	p.weights = [][]float64{slices.Clone(groups.Rows), make([]float64, groups.Len)}
	coef, err := pl.labels.Coefficients(ctx, g, groups)
	if err != nil {
		return nil, err
	}
	p.imputeLabels(coef)
	return p, nil
}

// imputeLabels replaces the labels by their probabilities under coef, which has the intercept last. It
// uses nothing of the labels: a group's two weights are shares of its size (1.8).
func (p *publicSide) imputeLabels(coef []float64) {
	pos, neg := p.weights[p.positive], p.weights[1-p.positive]
	for i := range pos {
		z := coef[len(coef)-1]
		for k, j := range p.space.Columns {
			c := &p.groups.Cols[j]
			f, v := p.space.Cell(k, c, int(c.Codes.At(i)))
			z += coef[f] * v
		}
		size := pos[i] + neg[i]
		pos[i] = size / (1 + math.Exp(-z))
		neg[i] = size - pos[i]
	}
}

// fitClassifier implements line 4 and the public half of line 6. It is called again only if the
// weights have changed.
func (p *publicSide) fitClassifier(ctx context.Context) error {
	pos, neg := p.weights[p.positive], p.weights[1-p.positive]
	coef, scores, err := p.refit.Fit(ctx, pos, neg)
	if err != nil {
		return err
	}
	p.classifier = logistic.Threshold(coef)
	p.fillAnswers(coef, scores)
	wrong, right := 0.0, 0.0
	if p.shares != nil {
		for i, z := range scores {
			yes := 1 / (1 + math.Exp(-z))
			p.shares[i] = yes
			wrong += neg[i]*yes + pos[i]*(1-yes)
			right += pos[i]*yes + neg[i]*(1-yes)
		}
		p.err = wrong / (wrong + right)
		return nil
	}
	for i, a := range p.answers { // a sum each, of weights times 0 or 1: no guesses for the processor
		yes := float64(a)
		wrong += neg[i]*yes + pos[i]*(1-yes)
		right += pos[i]*yes + neg[i]*(1-yes)
	}
	p.err = wrong / (wrong + right)
	return nil
}

// fillAnswers fills answers with those of the classifier itself, which adds integers. The score
// decides, except within its rounding error of zero.
func (p *publicSide) fillAnswers(coef, scores []float64) {
	top := 0.0
	for _, c := range coef {
		top = max(top, math.Abs(c))
	}
	slack := top * p.space.Slack()
	answers := p.answers[:len(scores)]
	for i, z := range scores {
		answers[i] = uint8(^math.Float64bits(z) >> 63) // the sign, without a branch
		if !(math.Abs(z) > slack) {
			answers[i] = 0
			if p.space.Answers(p.classifier, p.groups.Cols, i) {
				answers[i] = 1
			}
		}
	}
}

// reweighRows implements line 9, followed by the next round's fit. With Scores, a row that is partly
// wrong is stepped by that part of the vote.
func (p *publicSide) reweighRows(ctx context.Context, vote float64) error {
	factor := math.Exp(vote)
	pos, neg := p.weights[p.positive], p.weights[1-p.positive]
	if p.shares != nil {
		for i, yes := range p.shares {
			pos[i] *= math.Exp(vote * (1 - yes))
			neg[i] *= math.Exp(vote * yes)
		}
		return p.fitClassifier(ctx)
	}
	ifPos, ifNeg := [2]float64{factor, 1}, [2]float64{1, factor} // by answer
	for i, a := range p.answers {
		pos[i] *= ifPos[a&1]
		neg[i] *= ifNeg[a&1]
	}
	return p.fitClassifier(ctx)
}
