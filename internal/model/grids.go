// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Grids is a sum of tables over a few columns each. For two classes the sum is the log-odds of the
// positive class, with one intercept. For K > 2 classes there is one sum per class, and their softmax
// gives the probabilities.
type Grids struct {
	Intercepts []float64 // 1 or K, nats
	Grids      []Grid
}

// Grid holds the contributions of the cells of some columns.
type Grid struct {
	Axes []GridAxis
	// Steps holds nats by class (only the positive one of two), then cell. Among cells, the part of
	// the first axis varies fastest.
	Steps [][]float64
}

// GridAxis divides one column into two or more parts.
type GridAxis struct {
	Column string    `json:"column"`
	Edges  []float64 `json:"edges"` // of a number, as in Shape
	Parts  []int     `json:"parts"` // of a category, by code: the parts 0, 1, ...
}

const (
	maxGrids = 1 << 12
	maxAxes  = 64
)

// Describe implements Classifier.
func (g *Grids) Describe() string { return "a sum of tables over several columns" }

// checkParts implements Classifier. It uses no space.
func (g *Grids) checkParts(s *schema.Schema, _ *spaceUse) error {
	width := s.Classes()
	if width == 2 {
		width = 1
	}
	if len(g.Intercepts) != width {
		return fmt.Errorf("model: grids: intercepts must number %d (got %d)", width, len(g.Intercepts))
	}
	for k, x := range g.Intercepts {
		if !(math.Abs(x) <= feature.MaxStep) {
			return fmt.Errorf("model: grids: intercepts must be at most %d in size (number %d is %g)", feature.MaxStep, k, x)
		}
	}
	if len(g.Grids) < 1 || len(g.Grids) > maxGrids {
		return fmt.Errorf("model: grids must number 1 to %d (got %d)", maxGrids, len(g.Grids))
	}
	index := indexColumns(s)
	for k := range g.Grids {
		if err := g.Grids[k].checkCells(s, index, width); err != nil {
			return fmt.Errorf("model: grid %d: %w", k, err)
		}
	}
	return nil
}

func (g *Grid) checkCells(s *schema.Schema, index map[string]int, width int) error {
	if len(g.Axes) < 1 || len(g.Axes) > maxAxes {
		return fmt.Errorf("axes must number 1 to %d (got %d)", maxAxes, len(g.Axes))
	}
	cells, taken := 1, make(map[string]bool)
	for _, a := range g.Axes {
		j, ok := index[a.Column]
		if !ok || taken[a.Column] {
			return fmt.Errorf("column %q must be in the model's schema, not ignored, and of one axis", a.Column)
		}
		taken[a.Column] = true
		parts, err := a.countParts(&s.Columns[j])
		if err != nil {
			return err
		}
		if cells *= parts; cells > feature.MaxCells {
			return fmt.Errorf("cells must number at most %d", feature.MaxCells)
		}
	}
	if len(g.Steps) != width {
		return fmt.Errorf("steps must be given for each of %d scores (got %d)", width, len(g.Steps))
	}
	for _, steps := range g.Steps {
		if len(steps) != cells {
			return fmt.Errorf("steps must number %d, one per cell (got %d)", cells, len(steps))
		}
		for c, x := range steps {
			if !(math.Abs(x) <= feature.MaxStep) {
				return fmt.Errorf("steps must be at most %d in size (cell %d has %g)", feature.MaxStep, c, x)
			}
		}
	}
	return nil
}

// countParts returns the number of parts of the axis, which must be from 2 to MaxCells.
func (a *GridAxis) countParts(c *schema.Column) (int, error) {
	parts := len(a.Edges) + 1 + c.Marks()
	if err := checkEdges(c, a.Edges); err != nil {
		return 0, err
	}
	if c.Kind == schema.Category {
		if len(a.Parts) != c.Codes() {
			return 0, fmt.Errorf("parts of column %q must number %d, one per code (got %d)", c.Name, c.Codes(), len(a.Parts))
		}
		for code, p := range a.Parts {
			if p < 0 || p >= len(a.Parts) {
				return 0, fmt.Errorf("parts of column %q must be from 0 to %d (code %d has %d)", c.Name, len(a.Parts)-1, code, p)
			}
			parts = max(parts, p+1)
		}
	} else if len(a.Parts) > 0 {
		return 0, fmt.Errorf("column %q, a number, must have edges and no parts", c.Name)
	}
	if parts < 2 || parts > feature.MaxCells {
		return 0, fmt.Errorf("column %q must be cut into 2 to %d parts (got %d)", c.Name, feature.MaxCells, parts)
	}
	return parts, nil
}

func (g *Grids) listColumns() (names []string) {
	for k := range g.Grids {
		for _, a := range g.Grids[k].Axes {
			names = append(names, a.Column)
		}
	}
	return names
}

func (g *Grids) fileVersion() int { return 6 }

func (g *Grids) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	return g.toSteps(p.m.Schema).bindTable(cols)
}

func (g *Grids) bindRows(e *rowEncoder) rowScorer { return g.toSteps(e.m.Schema) }

func (g *Grids) toSteps(s *schema.Schema) *stepSum {
	index, sum := indexColumns(s), newStepSum(g.Intercepts...)
	for k := range g.Grids {
		var axes []feature.Bins
		for _, a := range g.Grids[k].Axes {
			j := index[a.Column]
			if s.Columns[j].Kind != schema.Category {
				axes = append(axes, feature.NewBins(s, j, a.Edges))
				continue
			}
			of, parts := make([]uint32, len(a.Parts)), 0
			for code, p := range a.Parts {
				of[code], parts = uint32(p), max(parts, p+1)
			}
			axes = append(axes, feature.NewGroups(j, of, parts))
		}
		sum.add(g.Grids[k].Steps, axes...)
	}
	return sum
}

type gridsBody struct {
	Intercepts []float64  `json:"intercepts"`
	Grids      []gridBody `json:"grids"`
}

type gridBody struct {
	Axes    []GridAxis     `json:"axes"`
	Classes []gridStepBody `json:"levels"`
}

type gridStepBody struct {
	Steps []float64 `json:"steps"`
}

func (g *Grids) writeBody(into *body) {
	into.Grids = &gridsBody{Intercepts: g.Intercepts}
	for k := range g.Grids {
		one := gridBody{Axes: g.Grids[k].Axes}
		for _, steps := range g.Grids[k].Steps {
			one.Classes = append(one.Classes, gridStepBody{steps})
		}
		into.Grids.Grids = append(into.Grids.Grids, one)
	}
}

func (b *gridsBody) readClassifier() Classifier {
	g := &Grids{Intercepts: b.Intercepts}
	for _, one := range b.Grids {
		grid := Grid{Axes: one.Axes}
		for _, c := range one.Classes {
			grid.Steps = append(grid.Steps, c.Steps)
		}
		g.Grids = append(g.Grids, grid)
	}
	return g
}
