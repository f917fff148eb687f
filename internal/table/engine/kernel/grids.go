// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// GridScores holds the scores of every row, as engine.GridScore means them, and adds up
// slopes by the cells of grids. Memory 8 bytes per row and score, and 4 per row. It is not
// for several goroutines at once.
type GridScores struct {
	cols     []column.Column
	labels   []uint8
	positive uint8 // of two classes
	width    int   // scores per row
	z        []int32
	slope    []int32  // by row, then score, in units of 1/engine.WeightOne
	curve    []uint32 // by row, likewise
}

// NewGridScores starts every row at the given scores. positive is the positive one of two
// classes. cols is parallel to the schema's Columns. It keeps cols and labels.
func NewGridScores(cols []column.Column, labels []uint8, positive int, start []int64) *GridScores {
	width := len(start)
	s := &GridScores{cols: cols, labels: labels, positive: uint8(positive), width: width,
		z: make([]int32, len(labels)*width), slope: make([]int32, len(labels)*width), curve: make([]uint32, len(labels))}
	for at := 0; at < len(s.z); at += width {
		for k, units := range start {
			s.z[at+k] = clampUnits(units)
		}
	}
	return s
}

// Slopes finds the slopes and the curve of every row and adds them up by the cells of each
// of grids. The sums are exact, hence the same for any order of the rows.
func (s *GridScores) Slopes(
	ctx context.Context, limit engine.SlopeLimit, grids []feature.Grid,
) ([]engine.GridSums, error) {
	if err := s.differentiate(ctx, limit.Most, limit.Norm); err != nil {
		return nil, err
	}
	return s.sumGrids(ctx, grids)
}

func (s *GridScores) differentiate(ctx context.Context, most float64, norm engine.SlopeNorm) error {
	return s.eachBlock(ctx, func(from, to int, _, _ []uint32) {
		if s.width == 1 {
			s.differentiateTwo(from, to, most)
			return
		}
		p := make([]float64, s.width)
		for i := from; i < to; i++ {
			s.differentiateRow(i, most, norm, p)
		}
	})
}

func (s *GridScores) differentiateTwo(from, to int, most float64) {
	for i := from; i < to; i++ {
		p := 1 / (1 + math.Exp(-float64(s.z[i])/feature.ScoreOne))
		slope := -p
		if s.labels[i] == s.positive {
			slope = 1 - p
		}
		s.slope[i] = int32(math.Max(-most, math.Min(most, slope)) * engine.WeightOne)
		s.curve[i] = uint32(4 * (p * (1 - p)) * engine.WeightOne)
	}
}

func (s *GridScores) differentiateRow(i int, most float64, norm engine.SlopeNorm, p []float64) {
	writeSoftmax(s.z[i*s.width:][:s.width], p)
	squares := 0.0
	for _, x := range p {
		squares += x * x
	}
	own := p[s.labels[i]]
	length := 2 * (1 - own) // Σ|slope|: 1 − p of its own, as much of all others
	if norm == engine.SlopesL2 {
		length = math.Sqrt(math.Max(0, squares-own*own+(1-own)*(1-own)))
	}
	scale := 1.0
	if length > most {
		scale = most / length
	}
	for k, x := range p {
		slope := -x
		if k == int(s.labels[i]) {
			slope = 1 - x
		}
		s.slope[i*s.width+k] = int32(slope * scale * engine.WeightOne)
	}
	s.curve[i] = uint32(math.Max(0, 1-squares) * engine.WeightOne)
}

// sumGrids makes one pass over the rows for all grids of the same columns.
func (s *GridScores) sumGrids(ctx context.Context, grids []feature.Grid) ([]engine.GridSums, error) {
	cut := newCuts(s.cols, grids)
	bundles := cut.bundle(grids)
	sums := make([]engine.GridSums, len(bundles))
	var all sync.Mutex // guards sums
	for k, b := range bundles {
		sums[k] = s.newSums(b.size())
	}
	err := s.eachWorker(ctx, func(next func() (from, to int, ok bool)) {
		own := s.sumPieces(cut, bundles, next)
		all.Lock()
		defer all.Unlock()
		for k := range own {
			addSums(sums[k].Slopes, own[k].Slopes)
			addSums(sums[k].Curves, own[k].Curves)
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]engine.GridSums, len(grids))
	for k, b := range bundles {
		for _, g := range b.grids {
			out[g] = s.newSums(grids[g].Cells())
			for piece, cell := range b.cellsOf(cut, g, &grids[g]) {
				addSums(out[g].Slopes[int(cell)*s.width:], sums[k].Slopes[piece*s.width:][:s.width])
				out[g].Curves[cell] += sums[k].Curves[piece]
			}
		}
	}
	return out, nil
}

func (s *GridScores) newSums(cells int) engine.GridSums {
	return engine.GridSums{Slopes: make([]int64, cells*s.width), Curves: make([]int64, cells)}
}

func addSums(into, sums []int64) {
	for i, x := range sums {
		into[i] += x
	}
}

// sumPieces adds up the rows that next gives it by the pieces of each bundle.
func (s *GridScores) sumPieces(
	cut *cuts, bundles []*bundle, next func() (from, to int, ok bool),
) []engine.GridSums {
	parts := make([][]uint32, len(cut.columns)) // by column, of the rows of a block
	for k := range cut.columns {
		if cut.columns[k].parts > 0 {
			parts[k] = make([]uint32, classBlock)
		}
	}
	sums, steps := make([]engine.GridSums, len(bundles)), make([][][]uint32, len(bundles))
	for k, b := range bundles {
		sums[k], steps[k] = s.newSums(b.size()), b.steps()
	}
	pieces := make([]uint32, classBlock)
	for from, to, ok := next(); ok; from, to, ok = next() {
		for k := range cut.columns {
			if c := &cut.columns[k]; c.parts > 0 {
				c.codes.Look(from, c.part, parts[k][:to-from])
			}
		}
		slopes, curves := s.slope[from*s.width:to*s.width], s.curve[from:to]
		for k, b := range bundles {
			for at, c := range b.columns {
				step := steps[k][at]
				if at == 0 {
					for i, part := range parts[c][:to-from] {
						pieces[i] = step[part]
					}
					continue
				}
				for i, part := range parts[c][:to-from] {
					pieces[i] += step[part]
				}
			}
			s.addRows(&sums[k], pieces[:to-from], slopes, curves)
		}
	}
	return sums
}

// addRows adds the slopes and curves of rows to the sums of the pieces they lie in.
func (s *GridScores) addRows(sums *engine.GridSums, pieces []uint32, slopes []int32, curves []uint32) {
	if s.width == 1 {
		for i, c := range pieces {
			sums.Slopes[c] += int64(slopes[i])
			sums.Curves[c] += int64(curves[i])
		}
		return
	}
	for i, c := range pieces {
		into := sums.Slopes[int(c)*s.width:][:s.width]
		for k, x := range slopes[i*s.width:][:s.width] {
			into[k] += int64(x)
		}
		sums.Curves[c] += int64(curves[i])
	}
}

// Add adds a term to the scores. One pass over the rows.
func (s *GridScores) Add(ctx context.Context, t *engine.GridTerm) error {
	bound := t.Grid.Bind(s.cols)
	return s.eachBlock(ctx, func(from, to int, cells, spare []uint32) {
		bound.Read(from, cells, spare)
		for i, c := range cells {
			row := s.z[(from+i)*s.width:][:s.width]
			for k, u := range t.Units[int(c)*s.width:][:s.width] {
				row[k] = clampUnits(int64(row[k]) + u)
			}
		}
	})
}

// eachBlock calls do for every block of rows on all cores, with scratch of the
// block's length. It fails only when ctx ends.
func (s *GridScores) eachBlock(ctx context.Context, do func(from, to int, cells, spare []uint32)) error {
	return s.eachWorker(ctx, func(next func() (from, to int, ok bool)) {
		cells, spare := make([]uint32, classBlock), make([]uint32, classBlock)
		for from, to, ok := next(); ok; from, to, ok = next() {
			do(from, to, cells[:to-from], spare[:to-from])
		}
	})
}

// eachWorker calls work on every core with a function that gives it the next block of
// rows. It fails only when ctx ends, and the blocks with it.
func (s *GridScores) eachWorker(ctx context.Context, work func(next func() (from, to int, ok bool))) error {
	var taken atomic.Int64
	var workers sync.WaitGroup
	blocks := (len(s.labels) + classBlock - 1) / classBlock
	next := func() (from, to int, ok bool) {
		b := int(taken.Add(1) - 1)
		if b >= blocks || ctx.Err() != nil {
			return 0, 0, false
		}
		return b * classBlock, min((b+1)*classBlock, len(s.labels)), true
	}
	for range min(runtime.GOMAXPROCS(0), blocks) {
		workers.Go(func() { work(next) })
	}
	workers.Wait()
	return ctx.Err()
}
