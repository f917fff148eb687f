// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Fit makes the first fit, tests each product once, and makes the chosen fit. It can fail only for a
// fault of the engine or a cancelled context (1.5).
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	m, err := pl.fit(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	return m, nil
}

func (pl *Plan) fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	first, err := fitPart(ctx, g, pl.first) // 1.1
	if err != nil {
		return nil, err
	}
	lead, err := pl.measureLead(g, first)
	if err != nil {
		return nil, err
	}
	chosen, beside := learn.Plan(pl.additive), "not above"
	if lead > pl.enough {
		chosen, beside = pl.grids, "above"
	}
	m, err := fitPart(ctx, g, chosen)
	if err != nil {
		return nil, err
	}
	bill := m.Privacy.BillWords()
	m.Privacy = learn.State(g, "auto: G-AUTO-1")
	m.Privacy.Statement = fmt.Sprintf("Chosen: %s, with %s, because the best product of columns leads by %.0f rows as measured, %s %.0f. %s",
		m.Learner, strings.Join(bill, " and "), lead, beside, pl.enough, m.Privacy.Statement)
	return m, nil
}

// fitPart fits a plan within g's training.
func fitPart(ctx context.Context, g *guard.Guard, pl learn.Plan) (*model.Model, error) {
	part, err := g.Part(pl.Terms())
	if err != nil {
		return nil, err
	}
	return pl.Fit(ctx, part)
}

// most bounds the length of a row's slopes. With two classes, a row about which the first fit has no
// information has slopes of length ½.
const most = 0.5

// measureLead measures by how many rows a product of columns explains what the first fit's score does not.
func (pl *Plan) measureLead(g *guard.Guard, first *model.Model) (float64, error) {
	_, score := grids.ScoreOf(first, pl.s, func(feature.Grid, []float64) {})
	products := grids.DrawProducts(pl.s, g.Coins(), pl.products) // 1.2: drawn before the rows are asked
	limit := guard.SlopeLimit{Most: most, Norm: guard.SlopesL2}  // 1.3: no row's slopes are longer
	sums, err := g.GridSlopes(score, limit, products)
	if err != nil {
		return 0, err
	}
	out, err := g.Measure(leadLabel, pl.lead, sums.LargestLead())
	if err != nil {
		return 0, err
	}
	return out.Values[0], nil
}
