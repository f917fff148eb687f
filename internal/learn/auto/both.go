// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	bothShare  = 0.3   // of ρ, for additive where grids follows it
	mostShapes = 2_000 // columns, so that their shapes and all rounds are within a model's grids
)

// bothSignal is the rows times ε from which on both are fitted. With several classes that numbers distinguish, no single
// product shows their many small interactions, and the grids' weight is measured.
func bothSignal(s *schema.Schema) int {
	if s.Classes() > 2 && mostlyNumbers(s) {
		return gaussianSignal
	}
	return leastSignalOf(s)
}

// both is the plan of additive and then of grids on top of its score. All releases are accounted jointly, and are
// spent in the order of the bill.
type both struct {
	Params
	s        *schema.Schema
	scope    dp.Scope
	rows     int
	additive *additive.Plan
	grids    *grids.Plan
}

// planBoth plans both; nil if grids would have Laplace noise or be slow, or if with two classes additive would have it.
func (pl *Plan) planBoth(rows int) (b *both, err error) {
	if len(pl.s.Features()) > mostShapes {
		return nil, nil
	}
	b = &both{Params: pl.Params, s: pl.s, scope: pl.scope, rows: pl.rows}
	// ρ grows a little more slowly than the square of ε.
	for all := pl.Epsilon; ; all -= pl.Epsilon / 64 {
		part := func(share float64) dp.Epsilon { return dp.Epsilon(math.Sqrt(share) * float64(all)) }
		b.additive, err = additive.Params{Epsilon: part(bothShare), Delta: pl.Params.Delta, Rows: pl.Rows, Listed: true}.Plan(pl.s, rows)
		if err != nil {
			return nil, err
		}
		b.grids, err = grids.Params{Epsilon: part(1 - bothShare), Delta: pl.Params.Delta, Rows: pl.Rows, After: true}.Plan(pl.s, rows)
		if err != nil || b.additive.Delta == 0 && pl.s.Classes() == 2 || b.grids.Delta == 0 || b.grids.IsSlow() {
			return nil, err
		}
		t := b.Terms()
		if enough, err := accounting.Within(t.Bill, t.Price); enough || err != nil { // 1.6
			return b, err
		}
	}
}

// Terms returns the bill of one Fit, in the order of its measurements.
func (b *both) Terms() guard.Terms {
	return guard.Terms{Op: "auto", Scope: b.scope, Price: dp.Price{Epsilon: b.Epsilon, Delta: b.Delta},
		Bill: slices.Concat(b.additive.Terms().Bill, b.grids.Terms().Bill)}
}

// Fit fits additive, and grids from its score.
func (b *both) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	first, err := b.additive.Fit(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	m, err := b.grids.FitAfter(g, first)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	m.Privacy = learn.State(g, "auto: G-AUTO-1")
	m.Privacy.Statement = fmt.Sprintf("Chosen: additive, and grids on top of it, because a δ is given and rows times ε are at least %d. %s",
		bothSignal(b.s), m.Privacy.Statement)
	return m, nil
}

// Facts describes the plan in words and numbers, from public choices alone.
func (b *both) Facts() []learn.Fact {
	var f learn.Facts
	f.AddScope(b.s, b.Terms(), "")
	f.AddColumns(b.s, b.scope == dp.WholeRow)
	f.AddRows(b.s, b.rows, false)
	f.Add("interactions", "both", "additive for %.0f %% of the price, and grids on top of it, because a δ is given and rows times ε "+
		"are at least %d; explain draws no such model, but those of additive", 100*bothShare, bothSignal(b.s))
	t := b.Terms()
	f.AddPrice(t.Price, len(t.Bill), false)
	f = append(f, within("additive", b.additive, "epsilon", "delta")...)
	return append(f, within("grids", b.grids, "epsilon", "delta")...)
}
