// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// LevelCells implements engine.Table. Time O(n·bins); memory one counter per bin
// and level on each core.
func (m *Table) LevelCells(ctx context.Context, bins []feature.Bins) ([]engine.LevelCells, error) {
	levels := m.schema.Classes()
	byCode := make([][]uint32, len(bins))
	for q := range bins {
		byCode[q] = bins[q].ByCode(&m.t.Cols[bins[q].Column])
	}
	chunks := (m.t.Rows + chunkRows - 1) / chunkRows
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	parts := make([][][]uint64, workers) // by worker, question, then bin and level
	var wg sync.WaitGroup
	for w := range workers {
		for q := range bins {
			parts[w] = append(parts[w], make([]uint64, bins[q].Len()*levels))
		}
		wg.Go(func() {
			codes := make([]uint32, chunkRows)
			for c := w; c < chunks && ctx.Err() == nil; c += workers {
				from, to := c*chunkRows, min((c+1)*chunkRows, m.t.Rows)
				labels := m.t.Labels[from:to]
				for q := range bins {
					m.t.Cols[bins[q].Column].Codes.Read(from, codes[:to-from])
					into, of := parts[w][q], byCode[q]
					for i, code := range codes[:to-from] {
						into[int(of[code])*levels+m.viewCode(int(labels[i]))]++
					}
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	out := make([]engine.LevelCells, len(bins))
	for q := range bins {
		out[q].Rows = make([][]uint64, levels)
		for k := range levels {
			out[q].Rows[k] = make([]uint64, bins[q].Len())
			for b := range out[q].Rows[k] {
				for w := range parts {
					out[q].Rows[k][b] += parts[w][q][b*levels+k]
				}
			}
		}
	}
	return out, nil
}

// LevelScores implements engine.Table. Of a view it may not be asked: levels are
// those of the whole label.
func (m *Table) LevelScores(start []float64) *engine.LevelScores {
	if m.schema != m.t.Schema {
		panic("memory: LevelScores must be asked of the whole table")
	}
	return engine.NewLevelScores(m.t.Cols, m.t.Labels, start)
}
