// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/feature"
)

// Cells implements engine.Table. Time O(n·(shapes of f + bins)); memory one
// counter per bin and label on each core.
func (m *Table) Cells(ctx context.Context, f *feature.Additive, bins []feature.Bins) ([]engine.CellSums, error) {
	if err := m.binary("cells"); err != nil {
		return nil, err
	}
	q := &cells{t: m, positive: uint8(m.positive)}
	if f != nil {
		q.score = f.Bind(m.t.Cols)
	}
	for k := range bins {
		q.bins = append(q.bins, bins[k].Bind(m.t.Cols))
		q.width = append(q.width, bins[k].Len())
	}
	chunks := (m.t.Rows + chunkRows - 1) / chunkRows
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	parts := make([][][2][]uint64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		parts[w] = q.empty()
		wg.Go(func() {
			s := &cellScratch{codes: make([]uint32, chunkRows), spare: make([]uint32, 2*chunkRows), score: make([]int64, chunkRows), weight: make([]uint64, chunkRows)}
			for c := w; c < chunks && ctx.Err() == nil; c += workers {
				q.add(c*chunkRows, min((c+1)*chunkRows, m.t.Rows), s, parts[w])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	out := make([]engine.CellSums, len(bins))
	for k := range out {
		for _, p := range parts[1:] {
			for label := range p[k] {
				for b, sum := range p[k][label] {
					parts[0][k][label][b] += sum
				}
			}
		}
		out[k] = engine.CellSums{Positive: parts[0][k][1], Negative: parts[0][k][0]}
	}
	return out, nil
}

// cells is one question on its way.
type cells struct {
	t        *Table
	positive uint8
	score    *feature.BoundAdditive // nil: every row weighs 1
	bins     []*feature.BoundBins   // by question
	width    []int
}

type cellScratch struct {
	codes  []uint32
	spare  []uint32
	score  []int64
	weight []uint64
}

func (q *cells) empty() (out [][2][]uint64) {
	for _, n := range q.width {
		out = append(out, [2][]uint64{make([]uint64, n), make([]uint64, n)})
	}
	return out
}

// add adds rows from..to-1.
func (q *cells) add(from, to int, s *cellScratch, into [][2][]uint64) {
	labels := q.t.t.Labels[from:to]
	weight := s.weight[:to-from]
	if q.score == nil {
		for i := range weight {
			weight[i] = engine.WeightOne
		}
	} else {
		score := s.score[:to-from]
		q.score.Scores(from, score, s.spare)
		for i, z := range score {
			if labels[i] != q.positive {
				z = -z
			}
			weight[i] = engine.Weight(z)
		}
	}
	at := s.codes[:to-from]
	for k, bins := range q.bins {
		bins.Read(from, at, s.spare)
		neg, pos := into[k][0], into[k][1]
		for i, b := range at {
			if labels[i] == q.positive {
				pos[b] += weight[i]
			} else {
				neg[b] += weight[i]
			}
		}
	}
}
