// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

var _ engine.ExactTable = (*Table)(nil)

// LogisticSums implements engine.Table.
func (m *Table) LogisticSums(ctx context.Context, sp *feature.Space, coef []float64) (*engine.LossSums, error) {
	return engine.AskLogistic(ctx, m, sp, coef)
}

// MarginSums implements engine.Table.
func (m *Table) MarginSums(ctx context.Context, sp *feature.Space, l engine.Loss, r engine.Rows,
	coef []float64) (*engine.LossSums, error) {
	return engine.AskMargins(ctx, m, sp, l, r, coef)
}

// ExactLosses implements engine.ExactTable.
func (m *Table) ExactLosses(ctx context.Context, q *engine.LossQuestion) (*engine.ExactSums, error) {
	if err := m.checkBinary("losses", counted); err != nil {
		return nil, err
	}
	weigh := kernel.LabelWeights(m.t.Labels, m.positive, q.Rows.Weights)
	sums, err := kernel.ExactLosses(ctx, m.t.Cols, m.t.Rows, weigh, q.Rows.Largest(), q)
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return sums, nil
}

// ExactRight implements engine.ExactTable.
func (m *Table) ExactRight(ctx context.Context, sp *feature.Space, coef []float64, cuts engine.Cuts) ([]int64, error) {
	if err := m.checkBinary("right answers", counted); err != nil {
		return nil, err
	}
	right, err := kernel.ExactRight(ctx, sp, m.t.Cols, m.t.Labels, m.positive, coef, cuts)
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return right, nil
}
