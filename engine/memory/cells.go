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

// Cells implements engine.Table. Time O(n·(shapes of f + bins)), and O(n·bins)
// where f is the last call's with a shape more; memory 4 bytes per row, which
// stay until the table goes, and one counter per bin and label on each core.
func (m *Table) Cells(ctx context.Context, f *feature.Additive, bins []feature.Bins) ([]engine.CellSums, error) {
	if err := m.binary("cells"); err != nil {
		return nil, err
	}
	q := &cells{t: m}
	q.side[m.positive] = 1
	for k := range bins {
		q.bins = append(q.bins, bins[k].Bind(m.t.Cols))
		q.width = append(q.width, bins[k].Len())
	}
	if f != nil && fits(f) {
		m.scored.Lock()
		defer m.scored.Unlock()
	}
	q.under(f)
	chunks := (m.t.Rows + cellRows - 1) / cellRows
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	parts := make([][][]uint64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		parts[w] = q.empty()
		wg.Go(func() {
			s := &cellScratch{bins: make([]uint32, cellRows), spare: make([]uint32, 2*cellRows), score: make([]int64, cellRows), weighed: make([]uint32, cellRows)}
			for c := w; c < chunks && ctx.Err() == nil; c += workers {
				q.add(c*cellRows, min((c+1)*cellRows, m.t.Rows), s, parts[w])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if q.margins != nil {
		m.scored.keep(f, m.positive)
	}
	out := make([]engine.CellSums, len(bins))
	for k := range out {
		sums := parts[0][k]
		for _, p := range parts[1:] {
			for at, sum := range p[k] {
				sums[at] += sum
			}
		}
		out[k] = engine.CellSums{Positive: make([]uint64, q.width[k]), Negative: make([]uint64, q.width[k])}
		for b := range q.width[k] {
			out[k].Negative[b], out[k].Positive[b] = sums[2*b], sums[2*b+1]
		}
	}
	return out, nil
}

// cellRows is how many rows are scored, weighed and added up at a time: what is
// kept of them in between stays in the processor's nearest cache.
const cellRows = 1 << 10

// cells is one question on its way.
type cells struct {
	t       *Table
	side    [256]uint32 // by label: 1 for the positive one
	bins    []*feature.BoundBins
	width   []int
	score   *feature.BoundAdditive // to score rows by, where their margins are not known
	margins []int32                // of all rows; nil where none are kept
	addends []addend               // what margins lack
	weights *weights
}

type cellScratch struct {
	bins    []uint32
	spare   []uint32
	score   []int64
	weighed []uint32 // weights as weigh writes them
}

// under says what rows weigh.
func (q *cells) under(f *feature.Additive) {
	if f == nil {
		return // all the same
	}
	if !fits(f) {
		q.score = f.Bind(q.t.t.Cols)
		return
	}
	kept := q.t.scored
	more, ok := kept.beyond(f, q.t.positive)
	kept.score = nil // until they are of f
	if kept.margins == nil {
		kept.margins = make([]int32, q.t.t.Rows)
	}
	q.margins = kept.margins
	if !ok {
		q.score = f.Bind(q.t.t.Cols)
		return
	}
	q.weights = weightTables()
	for k := range more {
		q.addends = append(q.addends, newAddend(&more[k], q.t.t.Cols))
	}
}

// empty holds, for each question, the sums of bin b at 2b and, of the positive
// label, 2b+1.
func (q *cells) empty() (out [][]uint64) {
	for _, n := range q.width {
		out = append(out, make([]uint64, 2*n))
	}
	return out
}

// add adds rows from..to-1.
func (q *cells) add(from, to int, s *cellScratch, into [][]uint64) {
	weighed, bins := s.weighed[:to-from], s.bins[:to-from]
	if q.score != nil || q.margins == nil {
		q.begin(from, to, s)
	} else {
		margins := q.margins[from:to]
		for k := range q.addends {
			q.addends[k].bins.Read(from, bins, s.spare)
			q.addends[k].add(bins, margins)
		}
		q.weights.weigh(margins, weighed)
	}
	for k := range q.bins {
		q.bins[k].Read(from, bins, s.spare)
		sums := into[k]
		for i, w := range weighed {
			sums[2*bins[i]+w&1] += uint64(w >> 1)
		}
	}
}

// begin weighs rows whose margins are not known, and keeps these where there is
// a place for them.
func (q *cells) begin(from, to int, s *cellScratch) {
	labels, weighed := q.t.t.Labels[from:to], s.weighed[:to-from]
	if q.score == nil {
		for i, l := range labels {
			weighed[i] = engine.WeightOne<<1 | q.side[l]
		}
		return
	}
	score := s.score[:to-from]
	q.score.Scores(from, score, s.spare)
	for i, z := range score {
		side := q.side[labels[i]]
		if side == 0 {
			z = -z
		}
		weighed[i] = uint32(engine.Weight(z))<<1 | side
		if q.margins != nil {
			q.margins[from+i] = int32(z)<<1 | int32(side)
		}
	}
}
