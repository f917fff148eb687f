// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// AdditiveLevels is a sum of step functions for each of K > 2 levels of a label:
// z_k = Intercepts[k] + Σ over columns of LogShares[k][bin]. The probabilities
// are the softmax of z.
type AdditiveLevels struct {
	Intercepts []float64 // K, nats
	Shapes     []LevelShape
}

// LevelShape is what one column adds for each level.
type LevelShape struct {
	Column    string
	Edges     []float64   // as Shape's
	LogShares [][]float64 // by level, then bin: nats by which the bin speaks for the level
	// Noise is as Shape's, by level, then bin: the standard deviation of what the
	// column's own cells say, for the noise and the rows that were there.
	Noise [][]float64
}

func (a *AdditiveLevels) check(s *schema.Schema) error {
	levels := s.Classes()
	if levels < 3 {
		return fmt.Errorf("model: additive levels: the label must have more than 2 levels (got %d)", levels)
	}
	if len(a.Shapes) < 1 || len(a.Shapes) > maxShapes {
		return fmt.Errorf("model: shapes must number 1 to %d (got %d)", maxShapes, len(a.Shapes))
	}
	if len(a.Intercepts) != levels {
		return fmt.Errorf("model: additive levels: intercepts must number %d, one per level (got %d)", levels, len(a.Intercepts))
	}
	for k, x := range a.Intercepts {
		if !(math.Abs(x) <= feature.MaxStep) {
			return fmt.Errorf("model: additive levels: intercepts must be at most %d in size (level %d has %g)", feature.MaxStep, k, x)
		}
	}
	index := columnIndex(s)
	seen := make(map[string]bool, len(a.Shapes))
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		j, err := shapeColumn(index, seen, k, sh.Column)
		if err != nil {
			return err
		}
		if s.Columns[j].Monotone != schema.Free {
			return fmt.Errorf("model: shape %d: column %q must not be followed up or down: what is up for one level is down for another", k, sh.Column)
		}
		if len(sh.LogShares) != levels || len(sh.Noise) != levels {
			return fmt.Errorf("model: shape %d: log-shares and noise must be given for each of %d levels (got %d and %d)", k, levels, len(sh.LogShares), len(sh.Noise))
		}
		for level := range levels {
			one := sh.of(level)
			if err := one.check(s, j); err != nil {
				return fmt.Errorf("model: shape %d: level %d: %w", k, level, err)
			}
		}
	}
	return nil
}

// of is the shape of one level against its own mean of nothing: the step function
// that is added to that level's sum.
func (sh *LevelShape) of(level int) Shape {
	return Shape{Column: sh.Column, Edges: sh.Edges, LogOdds: sh.LogShares[level], Noise: sh.Noise[level]}
}

// additiveLevels returns a function that adds up the functions of the rows from,
// from+1, ..., K numbers per row. Like those of Additive the sums are of integers.
func (p *Predictor) additiveLevels(cols []column.Column) func(from int, sums []float64) {
	a := p.m.AdditiveLevels
	levels, index := len(a.Intercepts), columnIndex(p.m.Schema)
	type term struct {
		codes *column.Codes
		units []int64 // by code, then level
	}
	var terms []term
	for i := range a.Shapes {
		sh := &a.Shapes[i]
		j := index[sh.Column]
		bins := feature.NewBins(p.m.Schema, j, sh.Edges)
		t := term{codes: &cols[j].Codes}
		for _, b := range bins.ByCode(&cols[j]) {
			for k := range levels {
				t.units = append(t.units, feature.Units(sh.LogShares[k][b]))
			}
		}
		terms = append(terms, t)
	}
	start := make([]int64, levels)
	for k, x := range a.Intercepts {
		start[k] = feature.Units(x)
	}
	return func(from int, sums []float64) {
		codes := make([]uint32, len(sums)/levels)
		units := make([]int64, len(sums))
		for i := range codes {
			copy(units[i*levels:], start)
		}
		for _, t := range terms {
			t.codes.Read(from, codes)
			for i, c := range codes {
				row := units[i*levels:][:levels]
				for k, u := range t.units[int(c)*levels:][:levels] {
					row[k] += u
				}
			}
		}
		for i, u := range units {
			sums[i] = float64(u) / feature.ScoreOne
		}
	}
}

type additiveLevelsBody struct {
	Intercepts []float64        `json:"intercepts"`
	Shapes     []levelShapeBody `json:"shapes"`
}

type levelShapeBody struct {
	Column string          `json:"column"`
	Edges  []float64       `json:"edges"`
	Levels []levelStepBody `json:"levels"`
}

// levelStepBody is the step function of one level.
type levelStepBody struct {
	LogShares []float64 `json:"log_shares"`
	Noise     []float64 `json:"noise"`
}

func additiveLevelsToBody(a *AdditiveLevels) *additiveLevelsBody {
	if a == nil {
		return nil
	}
	b := &additiveLevelsBody{Intercepts: a.Intercepts}
	for i := range a.Shapes {
		sh := &a.Shapes[i]
		s := levelShapeBody{Column: sh.Column, Edges: sh.Edges}
		for k := range sh.LogShares {
			s.Levels = append(s.Levels, levelStepBody{sh.LogShares[k], sh.Noise[k]})
		}
		b.Shapes = append(b.Shapes, s)
	}
	return b
}

func (b *additiveLevelsBody) model() *AdditiveLevels {
	if b == nil {
		return nil
	}
	a := &AdditiveLevels{Intercepts: b.Intercepts}
	for _, s := range b.Shapes {
		sh := LevelShape{Column: s.Column, Edges: s.Edges}
		for _, l := range s.Levels {
			sh.LogShares, sh.Noise = append(sh.LogShares, l.LogShares), append(sh.Noise, l.Noise)
		}
		a.Shapes = append(a.Shapes, sh)
	}
	return a
}

func (b *additiveLevelsBody) fill() {
	empty(&b.Intercepts)
	empty(&b.Shapes)
	for i := range b.Shapes {
		empty(&b.Shapes[i].Edges)
		empty(&b.Shapes[i].Levels)
		for k := range b.Shapes[i].Levels {
			empty(&b.Shapes[i].Levels[k].LogShares)
			empty(&b.Shapes[i].Levels[k].Noise)
		}
	}
}
