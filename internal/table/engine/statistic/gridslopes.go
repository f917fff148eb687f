// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// GridSlopes adds up, by the cells of each of Grids, how the likelihood of the labels rises with a
// score: of two classes the log-odds, of more one number for each. The slopes of a row are cut to
// Limit. Rows must count once each.
type GridSlopes struct {
	Under *StepScore
	Limit SlopeLimit
	Grids []feature.Grid
}

// SlopeNorm is how the length of a row's slopes is measured.
type SlopeNorm bool

const (
	// SlopesL1 adds up their sizes.
	SlopesL1 SlopeNorm = false
	// SlopesL2 is their Euclidean length.
	SlopesL2 SlopeNorm = true
)

// SlopeLimit says how long the slopes of a row may be, in (0, 1]; longer ones are shortened.
type SlopeLimit struct {
	Most float64
	Norm SlopeNorm
}

// GridSums are slopes and curves of the rows added up by the cells of one grid, in units of
// 1/engine.WeightOne. The slopes of a row are those of the log-likelihood of its label in its scores:
// 1 − p for the score of its own class, −p for another's. Its curve is 1 − Σ p² over the
// classes, twice that for two of them, which is at most 1. Both are rounded towards 0.
type GridSums struct {
	Slopes []int64 // by cell, then score
	Curves []int64 // by cell
}

var gridSlopes = Register[GridSlopes]("grid_slopes")

func (g GridSlopes) Check(s *schema.Schema) error {
	if len(g.Grids) == 0 || !(g.Limit.Most > 0 && g.Limit.Most <= 1) {
		return ErrParts(gridSlopes)
	}
	for k := range g.Grids {
		if err := checkGrid(s, &g.Grids[k]); err != nil {
			return err
		}
	}
	return g.Under.check(s, gridScores(s))
}

// gridScores is the number of scores of a row.
func gridScores(s *schema.Schema) int {
	if n := s.Classes(); n > 2 {
		return n
	}
	return 1
}

func (g GridSlopes) Size(v *engine.View) (n int, err error) {
	switch scores := gridScores(v.Schema); {
	case !v.Whole || len(g.Under.Start) != scores:
		return 0, fmt.Errorf("statistic: scores of grids must be asked of the whole table, %d of each row", scores)
	case v.Weighed:
		return 0, fmt.Errorf("statistic: slopes count every row once, and these rows weigh what their persons allow")
	}
	for k := range g.Grids {
		n += (len(g.Under.Start) + 1) * g.Grids[k].Cells()
	}
	return n, nil
}

func (g GridSlopes) Columns() (columns []int) {
	for k := range g.Grids {
		columns = append(columns, columnsOf(g.Grids[k].Axes)...)
	}
	return columns
}

func (g GridSlopes) Score() engine.Score { return g.Under }

func (g GridSlopes) Of(ctx context.Context, t engine.Table) ([]GridSums, error) {
	all, err := Sum(ctx, t, g)
	if err != nil {
		return nil, err
	}
	out := make([]GridSums, len(g.Grids))
	for k := range out {
		out[k], all = g.cutSums(all, &g.Grids[k])
	}
	return out, nil
}

// cutSums is the first sums, of a grid, and the others.
func (g GridSlopes) cutSums(all []int64, grid *feature.Grid) (first GridSums, rest []int64) {
	first.Slopes, all = cut(all, len(g.Under.Start)*grid.Cells())
	first.Curves, all = cut(all, grid.Cells())
	return first, all
}

type gridAdder struct {
	of      GridSlopes
	run     *engine.Run
	side    [1 << 8]uint8 // of two classes: 1 for the positive one
	width   int           // scores per row
	cut     *cuts
	bundles []*bundle
	pieces  []GridSums   // by bundle, then piece
	steps   [][][]uint32 // by bundle, then its column and part: what is added to the number of a piece

	slope []int32   // by row, then score, in units of 1/engine.WeightOne
	curve []uint32  // by row, likewise
	p     []float64 // of each class
	parts [][]uint32
	piece []uint32
}

// Adder implements engine.Statistic. All grids of the same columns share one look at the rows.
func (g GridSlopes) Adder(run *engine.Run) engine.Adder {
	a := &gridAdder{of: g, run: run, side: run.Positive(), width: len(g.Under.Start), cut: newCuts(run.Cols, g.Grids)}
	a.p, a.parts = make([]float64, a.width), make([][]uint32, len(a.cut.columns))
	a.bundles = a.cut.bundle(g.Grids)
	for _, b := range a.bundles {
		a.pieces = append(a.pieces, GridSums{make([]int64, b.size()*a.width), make([]int64, b.size())})
		a.steps = append(a.steps, b.steps())
	}
	return a
}

func (a *gridAdder) Add() {
	a.differentiate()
	n := a.run.Rows()
	a.piece = room(a.piece, n)
	piece := a.piece
	for k := range a.cut.columns {
		if c := &a.cut.columns[k]; c.parts > 0 {
			a.parts[k] = room(a.parts[k], n)
			c.codes.Look(0, c.part, a.parts[k])
		}
	}
	for k, b := range a.bundles {
		for at, c := range b.columns {
			step := a.steps[k][at]
			if at == 0 {
				for i, part := range a.parts[c] {
					piece[i] = step[part]
				}
				continue
			}
			for i, part := range a.parts[c] {
				piece[i] += step[part]
			}
		}
		a.addRows(&a.pieces[k])
	}
}

// differentiate finds the slopes and the curve of every row.
func (a *gridAdder) differentiate() {
	n, most := a.run.Rows(), a.of.Limit.Most
	a.slope, a.curve = room(a.slope, n*a.width), room(a.curve, n)
	if a.width > 1 {
		for i := range n {
			a.differentiateRow(i)
		}
		return
	}
	for i, z := range a.run.Scores {
		p := 1 / (1 + math.Exp(-float64(z)/feature.ScoreOne))
		slope := float64(a.side[a.run.Labels[i]]) - p
		a.slope[i] = int32(math.Max(-most, math.Min(most, slope)) * engine.WeightOne)
		a.curve[i] = uint32(4 * (p * (1 - p)) * engine.WeightOne)
	}
}

func (a *gridAdder) differentiateRow(i int) {
	p, label, most := a.p, int(a.run.Labels[i]), a.of.Limit.Most
	writeSoftmax(a.run.Scores[i*a.width:][:a.width], p)
	squares := 0.0
	for _, x := range p {
		squares += x * x
	}
	own := p[label]
	length := 2 * (1 - own) // Σ|slope|: 1 − p of its own, as much of all others
	if a.of.Limit.Norm == SlopesL2 {
		length = math.Sqrt(math.Max(0, squares-own*own+(1-own)*(1-own)))
	}
	scale := 1.0
	if length > most {
		scale = most / length
	}
	for k, x := range p {
		slope := -x
		if k == label {
			slope = 1 - x
		}
		a.slope[i*a.width+k] = int32(slope * scale * engine.WeightOne)
	}
	a.curve[i] = uint32(math.Max(0, 1-squares) * engine.WeightOne)
}

// addRows adds the slopes and curves of the rows to the sums of the pieces they lie in.
func (a *gridAdder) addRows(sums *GridSums) {
	slopes, curves, width := sums.Slopes, sums.Curves, a.width
	slope, curve := a.slope, a.curve[:len(a.piece)]
	if width == 1 {
		slope = slope[:len(curve)]
		for i, c := range a.piece {
			slopes[c] += int64(slope[i])
			curves[c] += int64(curve[i])
		}
		return
	}
	for i, c := range a.piece {
		into := slopes[int(c)*width:][:width]
		for k, x := range slope[i*width:][:width] {
			into[k] += int64(x)
		}
		curves[c] += int64(curve[i])
	}
}

func (a *gridAdder) AddTo(all []int64) {
	out := make([]GridSums, len(a.of.Grids))
	for g := range out {
		out[g], all = a.of.cutSums(all, &a.of.Grids[g])
	}
	for k, b := range a.bundles {
		for _, g := range b.grids {
			for piece, cell := range b.cellsOf(a.cut, g, &a.of.Grids[g]) {
				sums(a.pieces[k].Slopes[piece*a.width:][:a.width]).AddTo(out[g].Slopes[int(cell)*a.width:])
				out[g].Curves[cell] += a.pieces[k].Curves[piece]
			}
		}
	}
}
