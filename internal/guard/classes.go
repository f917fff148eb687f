// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// StepScore is some numbers of every row that grow by steps: see statistic.StepScore.
type StepScore = statistic.StepScore

// NewStepScore starts at the given numbers in nats.
func NewStepScore(start []float64) *StepScore { return statistic.NewStepScore(start) }

// ClassSlope is how the log-likelihood of the labels changes along a shape, and half of how that
// change falls off, each divided by most nats: see statistic.ClassSlope. What a row adds to both is shortened
// to 1 in L1, of either sign.
func (g *Guard) ClassSlope(ctx context.Context, f *StepScore, sh *feature.LevelShape, most float64) (*Sum, error) {
	if !(most > 0) || math.IsInf(most, 1) {
		return nil, fmt.Errorf("guard: the most that a row says must be > 0 nats and finite")
	}
	slope, err := statistic.ClassSlope{Under: f, Along: sh, Most: most}.Of(ctx, g.table())
	if err != nil {
		return nil, err
	}
	values := []mech.Ratio{{Num: slope.Gain, Den: engine.WeightOne}, {Num: slope.HalfCurve, Den: engine.WeightOne}}
	sum := &Sum{of: g, values: inside.Seal(values), moves: Signed(g.Schema().Relation).Times(g.most)}
	return sum.formed(g.asked(), SlopeView, 0, nil), nil
}

// ClassResiduals are sealed residuals of one column by class and bin.
type ClassResiduals struct {
	of   *Guard
	rest inside.Sealed[statistic.Residuals]
}

// ClassResiduals adds up what the labels say beyond the score f: see statistic.ClassResiduals.
func (g *Guard) ClassResiduals(ctx context.Context, f *StepScore, bins *feature.Bins) (*ClassResiduals, error) {
	rest, err := statistic.ClassResiduals{Under: f, Bins: *bins}.Of(ctx, g.table())
	if err != nil {
		return nil, err
	}
	return &ClassResiduals{g, inside.Seal(rest)}, nil
}

// Distances scores columns by how far their cells are from what the scores expect, ½·Σ |rows −
// expected rows| over bins and classes. A row adds at most 1 to a score, or takes it off, each time it
// appears or leaves (3.4).
func (g *Guard) Distances(columns []*ClassResiduals) (*Scores, error) {
	var values []mech.Ratio
	for _, r := range columns {
		if r.of != g {
			return nil, fmt.Errorf("guard: scores must be of one guard")
		}
		score := mech.Ratio{Den: 2 * engine.WeightOne}
		for class := range r.rest().Above {
			score.Num += sumDistances(r.rest().Above[class], r.rest().Below[class])
		}
		values = append(values, score)
	}
	return &Scores{of: g, values: inside.Seal(values), spread: 2 * OneCell(g.Schema().Relation).Times(g.most).L1}, nil
}
