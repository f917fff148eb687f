// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// StepScore implements engine.Score: a sum of steps by the cells of grids. If a row has one number, it
// is the log-odds of the positive class of two. If it has one per class, their softmax are the
// probabilities. Numbers are integers in units of 1/feature.ScoreOne nat, clamped to ±MaxScore after
// each addition, so that they depend neither on the machine nor on the position of a row. A score
// grows by AddShape and AddGrid alone.
type StepScore struct {
	Start []int64
	Terms []StepTerm
}

// StepTerm holds the contributions of the cells of one grid, by cell and then number.
type StepTerm struct {
	Grid  feature.Grid
	Units []int64
}

// MaxScore bounds a number of a row, in units of 1/feature.ScoreOne nat.
const MaxScore = 1 << 30

// NewStepScore starts with the given numbers in nats.
func NewStepScore(start []float64) *StepScore {
	s := &StepScore{}
	for _, x := range start {
		s.Start = append(s.Start, feature.Units(x))
	}
	return s
}

// AddGrid adds steps in nats, by cell and then number. It retains g.
func (s *StepScore) AddGrid(g feature.Grid, steps []float64) {
	t := StepTerm{Grid: g}
	for _, x := range steps {
		t.Units = append(t.Units, feature.Units(x))
	}
	s.Terms = append(s.Terms, t)
}

// AddShape adds the steps of sh multiplied by times. It copies sh.
func (s *StepScore) AddShape(sh *feature.LevelShape, times float64) {
	t := StepTerm{Grid: feature.Grid{Axes: []feature.Bins{sh.Bins.Clone()}}}
	for b := range sh.Len() {
		for _, steps := range sh.Steps {
			t.Units = append(t.Units, feature.Units(times*steps[b]))
		}
	}
	s.Terms = append(s.Terms, t)
}

// checkWhole refuses a view in which s is not a score of all classes.
func (s *StepScore) checkWhole(v *engine.View) error {
	if n := v.Schema.Classes(); !v.Whole || len(s.Start) != n {
		return fmt.Errorf("statistic: scores of classes must be asked of the whole table, for each of its classes (got %d for %d)",
			len(s.Start), n)
	}
	return nil
}

func (s *StepScore) Width() int { return len(s.Start) }

func (s *StepScore) Len() int { return len(s.Terms) }

func (s *StepScore) TermColumns(from int) (columns []int) {
	for k := range s.Terms[from:] {
		columns = append(columns, columnsOf(s.Terms[from+k].Grid.Axes)...)
	}
	return columns
}

func (s *StepScore) Extends(old engine.Score) bool {
	o, ok := old.(*StepScore)
	if !ok || !slices.Equal(o.Start, s.Start) || len(o.Terms) > len(s.Terms) {
		return false
	}
	return slices.EqualFunc(o.Terms, s.Terms[:len(o.Terms)], StepTerm.equal)
}

func (t StepTerm) equal(u StepTerm) bool {
	sameCuts := func(a, b feature.Bins) bool { return a.SameCuts(&b) }
	return slices.Equal(t.Units, u.Units) && slices.EqualFunc(t.Grid.Axes, u.Grid.Axes, sameCuts)
}

func (s *StepScore) Keep() engine.Score { return &StepScore{s.Start, slices.Clip(s.Terms)} }

func (s *StepScore) Scorer(run *engine.Run, from int) func() {
	add, width := s.bindTerms(run, from), len(s.Start)
	return func() {
		if from == 0 {
			for at := 0; at < len(run.Scores); at += width {
				for k, units := range s.Start {
					run.Scores[at+k] = clampUnits(units)
				}
			}
		}
		add(run.Scores)
	}
}

// bindTerms returns what adds the terms from one on to the numbers of the rows of a run.
func (s *StepScore) bindTerms(run *engine.Run, from int) func(scores []int32) {
	var grids []*feature.BoundGrid
	for k := range s.Terms[from:] {
		grids = append(grids, s.Terms[from+k].Grid.Bind(run.Cols))
	}
	width := len(s.Start)
	var cells, spare []uint32
	return func(scores []int32) {
		n := run.Rows()
		cells, spare = room(cells, n), room(spare, n)
		for t, g := range grids {
			units := s.Terms[from+t].Units
			g.Read(0, cells, spare)
			for i, c := range cells {
				row := scores[i*width:][:width]
				for k, u := range units[int(c)*width:][:width] {
					row[k] = clampUnits(int64(row[k]) + u)
				}
			}
		}
	}
}

func clampUnits(units int64) int32 { return int32(min(max(units, -MaxScore), MaxScore)) }

// writeSoftmax writes the softmax of scores in units.
func writeSoftmax(z []int32, p []float64) {
	most := z[0]
	for _, x := range z[1:] {
		most = max(most, x)
	}
	sum := 0.0
	for k, x := range z {
		p[k] = math.Exp(float64(x-most) / feature.ScoreOne)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}

// check refuses a score whose rows do not have width numbers in tables of schema s.
func (s *StepScore) check(sch *schema.Schema, width int) error {
	if s == nil || len(s.Start) != width {
		return fmt.Errorf("statistic: a score must have %d numbers of a row", width)
	}
	for k := range s.Terms {
		t := &s.Terms[k]
		if err := checkGrid(sch, &t.Grid); err != nil {
			return err
		}
		if len(t.Units) != width*t.Grid.Cells() {
			return fmt.Errorf("statistic: a score must have %d steps for each cell", width)
		}
	}
	return nil
}

// checkGrid refuses a grid that a table of schema s cannot have.
func checkGrid(s *schema.Schema, g *feature.Grid) error {
	if err := checkBins(s, g.Axes); err != nil {
		return err
	}
	cells, ok := 1, len(g.Axes) > 0
	for k := 0; ok && k < len(g.Axes); k++ {
		if ok = g.Axes[k].OfColumn() && cells <= feature.MaxCells/g.Axes[k].Len(); ok {
			cells *= g.Axes[k].Len()
		}
	}
	if !ok {
		return fmt.Errorf("statistic: a grid must have axes of columns, and at most %d cells", feature.MaxCells)
	}
	return nil
}
