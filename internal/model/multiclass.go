// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// MulticlassAdditive is a sum of step functions for each of K > 2 classes:
// z_k = Intercepts[k] + Σ over columns of LogShares[k][bin]. The probabilities
// are the softmax of z. A file calls it additive_levels.
type MulticlassAdditive struct {
	Intercepts []float64 // K, nats
	Shapes     []ClassShape
}

// ClassShape is the contribution of one column to each class.
type ClassShape struct {
	Column    string
	Edges     []float64   // as in Shape
	LogShares [][]float64 // by class, then bin: nats that the bin adds to the class
	// Noise is as in Shape, by class, then bin: the standard error from the column's own cells that is
	// due to noise and to the random choice of rows.
	Noise [][]float64
}

// Describe implements Classifier.
func (a *MulticlassAdditive) Describe() string { return "an additive model of more than two classes" }

// checkParts implements Classifier. It uses no space.
func (a *MulticlassAdditive) checkParts(s *schema.Schema, _ *spaceUse) error {
	classes := s.Classes()
	if classes < 3 {
		return fmt.Errorf("model: additive levels: the label must have more than 2 classes (got %d)", classes)
	}
	if err := checkShapeCount(len(a.Shapes)); err != nil {
		return err
	}
	if len(a.Intercepts) != classes {
		return fmt.Errorf("model: additive levels: intercepts must number %d, one per class (got %d)", classes,
			len(a.Intercepts))
	}
	for k, x := range a.Intercepts {
		if !(math.Abs(x) <= feature.MaxStep) {
			return fmt.Errorf("model: additive levels: intercepts must be at most %d in size (class %d has %g)",
				feature.MaxStep, k, x)
		}
	}
	places := newShapePlaces(s)
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		j, err := places.takeColumn(k, sh.Column)
		if err != nil {
			return err
		}
		if s.Columns[j].Monotone != schema.Free {
			return fmt.Errorf("model: shape %d: column %q must not be followed up or down: what is up for one class is down "+
				"for another", k, sh.Column)
		}
		if len(sh.LogShares) != classes || len(sh.Noise) != classes {
			return fmt.Errorf("model: shape %d: log-shares and noise must be given for each of %d classes (got %d and %d)", k,
				classes, len(sh.LogShares), len(sh.Noise))
		}
		for class := range classes {
			one := Shape{Column: sh.Column, Edges: sh.Edges, LogOdds: sh.LogShares[class], Noise: sh.Noise[class]}
			if err := one.checkSteps(s, j); err != nil {
				return fmt.Errorf("model: shape %d: class %d: %w", k, class, err)
			}
		}
	}
	return nil
}

func (a *MulticlassAdditive) listColumns() (names []string) {
	for k := range a.Shapes {
		names = append(names, a.Shapes[k].Column)
	}
	return names
}

func (a *MulticlassAdditive) fileVersion() int { return 4 }

func (a *MulticlassAdditive) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	return a.toSteps(p.m.Schema).bindTable(cols)
}

func (a *MulticlassAdditive) bindRows(e *rowEncoder) rowScorer { return a.toSteps(e.m.Schema) }

func (a *MulticlassAdditive) toSteps(s *schema.Schema) *stepSum {
	index, sum := indexColumns(s), newStepSum(a.Intercepts...)
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		sum.add(sh.LogShares, feature.NewBins(s, index[sh.Column], sh.Edges))
	}
	return sum
}

type multiclassBody struct {
	Intercepts []float64        `json:"intercepts"`
	Shapes     []classShapeBody `json:"shapes"`
}

type classShapeBody struct {
	Column  string          `json:"column"`
	Edges   []float64       `json:"edges"`
	Classes []classStepBody `json:"levels"`
}

// classStepBody is the step function of one class.
type classStepBody struct {
	LogShares []float64 `json:"log_shares"`
	Noise     []float64 `json:"noise"`
}

func (a *MulticlassAdditive) writeBody(into *body) {
	b := &multiclassBody{Intercepts: a.Intercepts}
	for i := range a.Shapes {
		sh := &a.Shapes[i]
		s := classShapeBody{Column: sh.Column, Edges: sh.Edges}
		for k := range sh.LogShares {
			s.Classes = append(s.Classes, classStepBody{sh.LogShares[k], sh.Noise[k]})
		}
		b.Shapes = append(b.Shapes, s)
	}
	into.MulticlassAdditive = b
}

func (b *multiclassBody) readClassifier() Classifier {
	a := &MulticlassAdditive{Intercepts: b.Intercepts}
	for _, s := range b.Shapes {
		sh := ClassShape{Column: s.Column, Edges: s.Edges}
		for _, c := range s.Classes {
			sh.LogShares, sh.Noise = append(sh.LogShares, c.LogShares), append(sh.Noise, c.Noise)
		}
		a.Shapes = append(a.Shapes, sh)
	}
	return a
}
