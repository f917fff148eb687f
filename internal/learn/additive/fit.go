// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// fit is the part of a training's state that both algorithms have.
type fit struct {
	plan  *Plan
	guard *guard.Guard
	bins  []feature.Bins // Plan.private, with the counted bins
	free  []int          // columns, as indices into bins, that can still be picked
}

func newFit(pl *Plan, g *guard.Guard) *fit {
	f := &fit{plan: pl, guard: g, bins: slices.Clone(pl.private)}
	for k := range pl.columns {
		f.free = append(f.free, k)
	}
	return f
}

// Fit queries the table once for the start, once for the bins if they are counted, and once for all
// rounds, or once for each round that uses the residuals of earlier ones. It can fail only for a fault
// of the engine or a cancelled context (1.7): a table with one class or one row trains like any other.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	m, err := pl.fit(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("additive: %w", err)
	}
	m.Privacy = learn.State(g, pl.claimID())
	return m, nil
}

func (pl *Plan) fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	if err := g.WeighPersons(pl.most); err != nil { // G-PERSONS-1
		return nil, err
	}
	f := newFit(pl, g)
	switch {
	case pl.protectsLabel() && !pl.rules.sharesAlone:
		return f.learnLabels(ctx)
	case pl.isMulticlass():
		r, err := f.learnMulticlass(ctx)
		if err != nil {
			return nil, err
		}
		return r.buildModel(), nil
	}
	return f.learnBinary(ctx)
}

func (pl *Plan) claimID() string {
	switch {
	case pl.isMulticlass():
		return "additive: G-ADDITIVE-5"
	case pl.protectsLabel():
		return "additive: G-ADDITIVE-6"
	case pl.Delta > 0:
		return "additive: G-ADDITIVE-4"
	case pl.scope == dp.PrivateFeatures:
		return "additive: G-ADDITIVE-1"
	case pl.schema.Relation == dp.ReplaceOne:
		return "additive: G-ADDITIVE-2"
	default:
		return "additive: G-ADDITIVE-3"
	}
}

// findBins determines bins by released counts. rows is the number of rows, if it is public or released.
func (f *fit) findBins(rows float64) error {
	if len(f.plan.counts.asking) == 0 {
		return nil
	}
	out, err := f.measureCounts()
	if err != nil {
		return err
	}
	for i := range f.plan.counts.asking {
		a := &f.plan.counts.asking[i]
		to := fineRuns + a.fine.Len()
		edges := a.findEdges(f.plan.rules.bins, out[:fineRuns], out[fineRuns:to], rows)
		if len(edges) > 0 { // else they tell nothing
			f.bins[a.index] = feature.NewBins(f.plan.schema, a.fine.Column, edges)
		}
		out = out[to:]
	}
	f.recutPairs()
	return nil
}

// pick selects the column of round t by scores of the free ones, and takes it from their list.
func (f *fit) pick(t int, scores *guard.Scores) (k int, err error) {
	i, err := f.guard.Select(pickLabel(t), f.plan.prices.picks[t], scores)
	if err != nil {
		return 0, err
	}
	k = f.free[i]
	f.free = slices.Delete(f.free, i, i+1)
	return k, nil
}
