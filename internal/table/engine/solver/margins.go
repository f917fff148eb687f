// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// NewMargins asks t again about each point. The label must be binary.
func NewMargins(t engine.Table, sp *feature.Space, r engine.Rows) engine.Margins {
	return &margins{t, sp, r, 0}
}

type margins struct {
	t        engine.Table
	sp       *feature.Space
	rows     engine.Rows
	halvings int
}

func (m *margins) Sample(rows int) engine.Margins {
	part := *m
	part.halvings = engine.HalvingsFor(m.t.Rows(), rows)
	return &part
}

func (m *margins) Sums(ctx context.Context, l engine.Loss, coef []float64, hess bool) (*engine.LossSums, error) {
	return Losses{Space: m.sp, Loss: l, Rows: m.rows, Coef: coef, Hess: hess, Halvings: m.halvings}.Floats(ctx, m.t)
}

// Right implements engine.Margins, of rows that count once each.
func (m *margins) Right(ctx context.Context, coef []float64, cuts engine.Cuts) ([]float64, error) {
	if m.rows.Weights != nil {
		return nil, errors.New("solver: right answers are counted of rows without weights alone")
	}
	right, err := Right{Space: m.sp, Coef: coef, Cuts: cuts}.Of(ctx, m.t)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(right))
	for k, n := range right {
		out[k] = float64(n)
	}
	return out, nil
}
