// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
)

// Fit makes the first fit, tests each product once, and makes the chosen fit. It can fail only for a
// fault of the engine or a cancelled context (1.5).
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	m, err := pl.fit(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	chosen := m.Privacy
	m.Privacy = learn.State(g, "auto: G-AUTO-1")
	if !pl.NotPrivate {
		m.Privacy.Statement = fmt.Sprintf("Chosen: %s, with %s. %s", m.Learner, strings.Join(chosen.BillWords(), " and "),
			m.Privacy.Statement)
	}
	return m, nil
}

func (pl *Plan) fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	first, err := fitPart(ctx, g, pl.first) // 1.1
	if err != nil {
		return nil, err
	}
	together, err := pl.choose(ctx, g, scoreOf(first, pl.s))
	if err != nil {
		return nil, err
	}
	if together {
		return fitPart(ctx, g, pl.grids)
	}
	return fitPart(ctx, g, pl.additive)
}

// fitPart fits a plan within g's training.
func fitPart(ctx context.Context, g *guard.Guard, pl learn.Plan) (*model.Model, error) {
	part, err := g.Part(pl.Terms())
	if err != nil {
		return nil, err
	}
	return pl.Fit(ctx, part)
}
