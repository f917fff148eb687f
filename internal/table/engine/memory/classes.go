// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// classScores are the scores of the rows for the last score asked about.
type classScores struct {
	sync.Mutex
	of    *engine.ClassScore
	terms int // of it that are added
	rows  *kernel.ClassScores
}

// ClassSlope implements engine.Table. Memory 4 bytes per row and class, which stay until
// another score is asked about. Of a view it may not be asked.
func (m *Table) ClassSlope(
	ctx context.Context, f *engine.ClassScore, sh *feature.LevelShape, most float64,
) (slope engine.ClassSlope, err error) {
	err = m.askScores(ctx, f, func(s *kernel.ClassScores) (err error) {
		slope, err = s.Slope(ctx, sh, most)
		return err
	})
	return slope, err
}

// ClassResiduals implements engine.Table, as ClassSlope does.
func (m *Table) ClassResiduals(
	ctx context.Context, f *engine.ClassScore, bins *feature.Bins,
) (residuals engine.ClassResiduals, err error) {
	err = m.askScores(ctx, f, func(s *kernel.ClassScores) (err error) {
		residuals, err = s.Residuals(ctx, bins)
		return err
	})
	return residuals, err
}

// askScores brings the rows' scores to f, and asks about them.
func (m *Table) askScores(ctx context.Context, f *engine.ClassScore, ask func(*kernel.ClassScores) error) error {
	if classes := m.t.Schema.Classes(); m.schema != m.t.Schema || len(f.Start) != classes {
		return fmt.Errorf("memory: scores of classes must be asked of the whole table, for each of its %d classes", classes)
	}
	if err := m.checkPersons("scores of classes", weighed); err != nil {
		return err
	}
	s := m.classes
	s.Lock()
	defer s.Unlock()
	if s.of != f || s.terms > len(f.Terms) {
		s.of, s.terms, s.rows = f, 0, kernel.NewClassScores(m.t.Cols, m.t.Labels, m.weights, f.Start)
	}
	for s.terms < len(f.Terms) {
		if err := s.rows.Add(ctx, &f.Terms[s.terms]); err != nil {
			s.of = nil // the scores of some rows are ahead
			return fmt.Errorf("memory: %w", err)
		}
		s.terms++
	}
	if err := ask(s.rows); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}
