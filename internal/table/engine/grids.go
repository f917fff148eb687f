// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// GridScore is a sum of steps by the cells of grids: for a label of two classes one score,
// the log-odds of the positive class; of K > 2 classes one for each, whose softmax are the
// probabilities. Scores are integers in units of 1/feature.ScoreOne nat, held within
// ±MaxClassScore after each addition. It grows by AddGrid alone, as a ClassScore does.
type GridScore struct {
	Start []int64
	Terms []GridTerm
}

// GridTerm is what the cells of one grid add, by cell and then score.
type GridTerm struct {
	Grid  feature.Grid
	Units []int64
}

// NewGridScore starts at the given scores in nats.
func NewGridScore(start []float64) *GridScore {
	s := &GridScore{}
	for _, x := range start {
		s.Start = append(s.Start, feature.Units(x))
	}
	return s
}

// Check refuses a score that does not fit tables of schema t.
func (s *GridScore) Check(t *schema.Schema) error {
	scores := t.Classes()
	if scores == 2 {
		scores = 1
	}
	ok := len(s.Start) == scores
	for k := range s.Terms {
		if err := s.Terms[k].Grid.Check(t); err != nil {
			return err
		}
		ok = ok && len(s.Terms[k].Units) == scores*s.Terms[k].Grid.Cells()
	}
	if !ok {
		return fmt.Errorf("engine: a score of grids must have %d steps for each cell", scores)
	}
	return nil
}

// AddGrid adds steps in nats, by cell and then score. It keeps g.
func (s *GridScore) AddGrid(g feature.Grid, steps []float64) {
	t := GridTerm{Grid: g}
	for _, x := range steps {
		t.Units = append(t.Units, feature.Units(x))
	}
	s.Terms = append(s.Terms, t)
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
// 1/WeightOne. The slopes of a row are those of the log-likelihood of its label in its scores:
// 1 − p for the score of its own class, −p for another's. Its curve is 1 − Σ p² over the
// classes, twice that for two of them, which is at most 1. Both are rounded towards 0.
type GridSums struct {
	Slopes []int64 // by cell, then score
	Curves []int64 // by cell
}
