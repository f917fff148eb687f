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

// Cells implements engine.Table. Time O(n·(shapes of f + bins)), and O(n·bins)
// where f is the last call's with a shape more; memory 4 bytes per row, which
// stay until the table goes, and one counter per bin and label on each core.
func (m *Table) Cells(ctx context.Context, f *feature.Additive, bins []feature.Bins,
	most engine.Caps) ([]engine.CellSums, error) {
	if err := m.checkBinary("cells", weighed); err != nil {
		return nil, err
	}
	q := &cells{t: m, most: [2]uint32{most[1] << 1, most[0]<<1 | 1}, cut: most != engine.FullCaps}
	q.side[m.positive] = 1
	for k := range bins {
		q.asked = append(q.asked, placeOf(&bins[k], m.t.Cols))
	}
	if f != nil && fitsUnits(f) {
		m.scored.Lock()
		defer m.scored.Unlock()
	}
	q.setWeights(f)
	chunks := (m.t.Rows + cellRows - 1) / cellRows
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	parts := make([][][]uint64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		parts[w] = q.emptySums()
		wg.Go(func() {
			s := &cellScratch{bins: make([]uint32, cellRows), spare: make([]uint32, 2*cellRows), score: make([]int64, cellRows),
				weighed: make([]uint32, cellRows)}
			for c := w; c < chunks && ctx.Err() == nil; c += workers {
				q.addRows(c*cellRows, min((c+1)*cellRows, m.t.Rows), s, parts[w])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if q.margins != nil {
		m.scored.keepScore(f, m.positive)
	}
	out := make([]engine.CellSums, len(bins))
	for k := range out {
		n := bins[k].Len()
		out[k] = engine.CellSums{Positive: make([]uint64, n), Negative: make([]uint64, n)}
		for _, p := range parts {
			for at := range q.asked[k].places {
				bin := q.asked[k].binOf(at)
				out[k].Negative[bin] += p[k][2*at]
				out[k].Positive[bin] += p[k][2*at+1]
			}
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
	asked   []place
	score   *feature.BoundAdditive // to score rows by anew
	margins []int32                // of all rows; nil where none are kept
	addends []addend               // what margins lack
	weights *weights
	most    [2]uint32 // by the label's bit: the cap of a weight, as writeWeights writes one
	cut     bool      // some weight may be above its cap
}

type cellScratch struct {
	bins    []uint32
	spare   []uint32
	score   []int64
	weighed []uint32 // weights as weigh writes them
}

// setWeights says what rows weigh.
func (q *cells) setWeights(f *feature.Additive) {
	if f == nil {
		return // all the same
	}
	if !fitsUnits(f) {
		q.score = f.Bind(q.t.t.Cols)
		return
	}
	kept := q.t.scored
	more, ok := kept.newShapes(f, q.t.positive)
	kept.score = nil // until they are of f
	if kept.margins == nil {
		kept.margins = make([]int32, q.t.t.Rows)
	}
	q.margins, q.weights = kept.margins, weightTables()
	if !ok {
		q.score = f.Bind(q.t.t.Cols)
		return
	}
	for k := range more {
		q.addends = append(q.addends, newAddend(&more[k], q.t.t.Cols))
	}
}

// emptySums holds, for each question, the sums of a place at twice its number and, of
// the positive label, one further.
func (q *cells) emptySums() (out [][]uint64) {
	for k := range q.asked {
		out = append(out, make([]uint64, 2*q.asked[k].places))
	}
	return out
}

// addRows adds rows from..to-1.
func (q *cells) addRows(from, to int, s *cellScratch, into [][]uint64) {
	weighed := s.weighed[:to-from]
	switch {
	case q.margins != nil:
		margins := q.margins[from:to]
		if q.score != nil {
			q.writeMargins(from, margins, s)
		}
		for k := range q.addends {
			q.addends[k].addTo(from, margins, s)
		}
		q.weights.writeWeights(margins, weighed)
	case q.score != nil:
		q.weighLongScores(from, weighed, s)
	default:
		for i, l := range q.t.t.Labels[from:to] {
			weighed[i] = engine.WeightOne<<1 | q.side[l]
		}
	}
	if q.cut {
		for i, w := range weighed {
			weighed[i] = min(w, q.most[w&1])
		}
	}
	if q.t.weights != nil {
		for i, w := range q.t.weights[from:to] {
			weighed[i] = uint32(uint64(weighed[i]>>1)*uint64(w)/engine.WeightOne)<<1 | weighed[i]&1
		}
	}
	for k := range q.asked {
		q.asked[k].sumWeights(from, weighed, into[k], s)
	}
}

// sumWeights adds weights to the sums of the places of rows from, from+1, ...
func (p *place) sumWeights(from int, weighed []uint32, into []uint64, s *cellScratch) {
	if p.codes != nil {
		sums := (*[2 << 8]uint64)(into)
		for i, c := range p.codes[from:][:len(weighed)] {
			w := weighed[i]
			sums[2*uint(c)+uint(w&1)] += uint64(w >> 1)
		}
		return
	}
	bins := s.bins[:len(weighed)]
	p.bins.Read(from, bins, s.spare)
	for i, w := range weighed {
		into[2*bins[i]+w&1] += uint64(w >> 1)
	}
}

// writeMargins writes the margins of rows from, from+1, ... under q.score.
func (q *cells) writeMargins(from int, margins []int32, s *cellScratch) {
	score := s.score[:len(margins)]
	q.score.Scores(from, score, s.spare)
	for i, l := range q.t.t.Labels[from:][:len(margins)] {
		sign := int32(q.side[l])<<1 - 1
		margins[i] = int32(score[i])*sign<<1 | int32(q.side[l])
	}
}

// weighLongScores weighs rows whose scores may be too long for margins.
func (q *cells) weighLongScores(from int, weighed []uint32, s *cellScratch) {
	score := s.score[:len(weighed)]
	q.score.Scores(from, score, s.spare)
	for i, l := range q.t.t.Labels[from:][:len(weighed)] {
		z, side := score[i], q.side[l]
		if side == 0 {
			z = -z
		}
		weighed[i] = uint32(engine.Weight(z))<<1 | side
	}
}
