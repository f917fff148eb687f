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

// gridScores are the scores of the rows for the last score asked about.
type gridScores struct {
	sync.Mutex
	of    *engine.GridScore
	terms int // of it that are added
	rows  *kernel.GridScores
}

// GridSlopes implements engine.Table. Memory 8 bytes per row and score and 4 per row, which
// stay until another score is asked about. Of a view it may not be asked.
func (m *Table) GridSlopes(
	ctx context.Context, f *engine.GridScore, limit engine.SlopeLimit, grids []feature.Grid,
) ([]engine.GridSums, error) {
	scores := m.t.Schema.Classes()
	if scores == 2 {
		scores = 1
	}
	if m.schema != m.t.Schema || len(f.Start) != scores {
		return nil, fmt.Errorf("memory: scores of grids must be asked of the whole table, %d of each row", scores)
	}
	if err := m.checkPersons("scores of grids", counted); err != nil {
		return nil, err
	}
	s := m.grids
	s.Lock()
	defer s.Unlock()
	if s.of != f || s.terms > len(f.Terms) {
		s.of, s.terms, s.rows = f, 0, kernel.NewGridScores(m.t.Cols, m.t.Labels, m.positive, f.Start)
	}
	for s.terms < len(f.Terms) {
		if err := s.rows.Add(ctx, &f.Terms[s.terms]); err != nil {
			s.of = nil // the scores of some rows are ahead
			return nil, fmt.Errorf("memory: %w", err)
		}
		s.terms++
	}
	sums, err := s.rows.Slopes(ctx, limit, grids)
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return sums, nil
}
