// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/column"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/schema"
)

// Additive is a sum of step functions, each of one column: the log-odds of the
// positive label.
type Additive struct {
	Intercept float64
	Shapes    []Shape
}

// Shape is what one column adds to the log-odds.
type Shape struct {
	Column  string
	Edges   []float64 // of a number, strictly increasing inside its bounds; empty for a category, which has one bin per code
	LogOdds []float64 // one per bin, nats
	// Noise is how far, as a standard deviation, each of LogOdds may be off for
	// the noise that was added and the rows that happened to be there; 0 where
	// no noise was added. It is reckoned from released numbers.
	Noise []float64
}

const maxShapes = 1 << 16

// check marks the columns in use. Spaces have no part in it.
func (a *Additive) check(s *schema.Schema) error {
	if len(a.Shapes) < 1 || len(a.Shapes) > maxShapes {
		return fmt.Errorf("model: shapes must number 1 to %d (got %d)", maxShapes, len(a.Shapes))
	}
	if !(math.Abs(a.Intercept) <= feature.MaxStep) {
		return fmt.Errorf("model: additive: intercept must be at most %d in size (got %g)", feature.MaxStep, a.Intercept)
	}
	index := columnIndex(s)
	seen := make(map[string]bool, len(a.Shapes))
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		j, ok := index[sh.Column]
		if !ok {
			return fmt.Errorf("model: shape %d: column %q must be in the model's schema and not ignored", k, sh.Column)
		}
		if seen[sh.Column] {
			return fmt.Errorf("model: shape %d: column %q must have one shape", k, sh.Column)
		}
		seen[sh.Column] = true
		if err := sh.check(s, j); err != nil {
			return fmt.Errorf("model: shape %d: %w", k, err)
		}
	}
	return nil
}

func (sh *Shape) check(s *schema.Schema, j int) error {
	c := &s.Columns[j]
	if c.Kind == schema.Category && len(sh.Edges) > 0 {
		return fmt.Errorf("edges of a category must be empty (got %d)", len(sh.Edges))
	}
	for i, e := range sh.Edges {
		if !(e > c.Lower && e <= c.Upper) || i > 0 && !(e > sh.Edges[i-1]) {
			return fmt.Errorf("edges must increase strictly inside the bounds of column %q (edge %d is %g)", c.Name, i, e)
		}
	}
	bins := feature.NewBins(s, j, sh.Edges)
	if len(sh.LogOdds) != bins.Len() || len(sh.Noise) != bins.Len() {
		return fmt.Errorf("log-odds and noise must number %d, one per bin (got %d and %d)", bins.Len(), len(sh.LogOdds), len(sh.Noise))
	}
	for b, x := range sh.LogOdds {
		if !(math.Abs(x) <= feature.MaxStep) {
			return fmt.Errorf("log-odds must be at most %d in size (bin %d has %g)", feature.MaxStep, b, x)
		}
		if !(sh.Noise[b] >= 0 && sh.Noise[b] <= feature.MaxStep) {
			return fmt.Errorf("noise must be from 0 to %d (bin %d has %g)", feature.MaxStep, b, sh.Noise[b])
		}
	}
	for b := 1; b < len(sh.LogOdds); b++ {
		if d := sh.LogOdds[b] - sh.LogOdds[b-1]; c.Monotone == schema.Increasing && d < 0 || c.Monotone == schema.Decreasing && d > 0 {
			return fmt.Errorf("log-odds of column %q must be %s, as the schema says (bin %d)", c.Name, c.Monotone, b)
		}
	}
	return nil
}

// sum rebuilds the function over the columns of the model's schema.
func (a *Additive) sum(s *schema.Schema) *feature.Additive {
	index := columnIndex(s)
	f := &feature.Additive{Intercept: a.Intercept}
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		f.Shapes = append(f.Shapes, feature.Shape{Bins: feature.NewBins(s, index[sh.Column], sh.Edges), Steps: sh.LogOdds})
	}
	return f
}

// additive returns a function that scores the rows from, from+1, ... into out.
func (p *Predictor) additive(cols []column.Column) func(from int, out []float64) {
	bound := p.m.Additive.sum(p.m.Schema).Bind(cols)
	return func(from int, out []float64) {
		units := make([]int64, len(out))
		bound.Scores(from, units, make([]uint32, 2*len(out)))
		for i, z := range units {
			out[i] = 1 / (1 + math.Exp(-float64(z)/feature.ScoreOne))
		}
	}
}

type additiveBody struct {
	Intercept float64     `json:"intercept"`
	Shapes    []shapeBody `json:"shapes"`
}

type shapeBody struct {
	Column  string    `json:"column"`
	Edges   []float64 `json:"edges"`
	LogOdds []float64 `json:"log_odds"`
	Noise   []float64 `json:"noise"`
}

func additiveToBody(a *Additive) *additiveBody {
	if a == nil {
		return nil
	}
	b := &additiveBody{Intercept: a.Intercept}
	for _, sh := range a.Shapes {
		b.Shapes = append(b.Shapes, shapeBody(sh))
	}
	return b
}

func (b *additiveBody) model() *Additive {
	if b == nil {
		return nil
	}
	a := &Additive{Intercept: b.Intercept, Shapes: make([]Shape, len(b.Shapes))}
	for k, sh := range b.Shapes {
		a.Shapes[k] = Shape(sh)
	}
	return a
}

func (b *additiveBody) fill() {
	empty(&b.Shapes)
	for k := range b.Shapes {
		empty(&b.Shapes[k].Edges)
		empty(&b.Shapes[k].LogOdds)
		empty(&b.Shapes[k].Noise)
	}
}
