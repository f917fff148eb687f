// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// ClassCells implements engine.Table. Time O(n·bins); memory one counter per bin
// and level on each core.
func (m *Table) ClassCells(ctx context.Context, bins []feature.Bins) ([]engine.ClassCells, error) {
	if err := m.checkPersons("cells of classes", weighed); err != nil {
		return nil, err
	}
	classes := m.schema.Classes()
	byCode := make([][]uint32, len(bins))
	for q := range bins {
		byCode[q] = bins[q].ByCode(&m.t.Cols[bins[q].Column])
	}
	chunks := (m.t.Rows + chunkRows - 1) / chunkRows
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	parts := make([][][]uint64, workers) // by worker, question, then bin and class
	var wg sync.WaitGroup
	for w := range workers {
		for q := range bins {
			parts[w] = append(parts[w], make([]uint64, bins[q].Len()*classes))
		}
		wg.Go(func() {
			codes := make([]uint32, chunkRows)
			for c := w; c < chunks && ctx.Err() == nil; c += workers {
				from, to := c*chunkRows, min((c+1)*chunkRows, m.t.Rows)
				labels := m.t.Labels[from:to]
				for q := range bins {
					m.t.Cols[bins[q].Column].Codes.Read(from, codes[:to-from])
					into, of := parts[w][q], byCode[q]
					if m.weights != nil {
						for i, w := range m.weights[from:to] {
							into[int(of[codes[i]])*classes+m.viewCode(int(labels[i]))] += uint64(w)
						}
						continue
					}
					for i, code := range codes[:to-from] {
						into[int(of[code])*classes+m.viewCode(int(labels[i]))]++
					}
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	out := make([]engine.ClassCells, len(bins))
	for q := range bins {
		out[q].Rows = make([][]uint64, classes)
		for k := range classes {
			out[q].Rows[k] = make([]uint64, bins[q].Len())
			for b := range out[q].Rows[k] {
				for w := range parts {
					out[q].Rows[k][b] += parts[w][q][b*classes+k]
				}
			}
		}
	}
	return out, nil
}

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
