// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Additive is a sum of step functions, each of one column or of a pair: the
// log-odds of the positive label.
type Additive struct {
	Intercept float64
	Shapes    []Shape
	Pairs     []PairShape
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
	if n := len(a.Shapes) + len(a.Pairs); n < 1 || n > maxShapes {
		return fmt.Errorf("model: shapes must number 1 to %d (got %d)", maxShapes, n)
	}
	if !(math.Abs(a.Intercept) <= feature.MaxStep) {
		return fmt.Errorf("model: additive: intercept must be at most %d in size (got %g)", feature.MaxStep, a.Intercept)
	}
	index := columnIndex(s)
	seen := make(map[string]bool, len(a.Shapes))
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		j, err := shapeColumn(index, seen, k, sh.Column)
		if err != nil {
			return err
		}
		if err := sh.check(s, j); err != nil {
			return fmt.Errorf("model: shape %d: %w", k, err)
		}
	}
	return a.checkPairs(s, index)
}

// shapeColumn is where the k-th shape's column is. It must be there, and none may
// have had it before.
func shapeColumn(index map[string]int, seen map[string]bool, k int, name string) (int, error) {
	j, ok := index[name]
	if !ok {
		return 0, fmt.Errorf("model: shape %d: column %q must be in the model's schema and not ignored", k, name)
	}
	if seen[name] {
		return 0, fmt.Errorf("model: shape %d: column %q must have one shape", k, name)
	}
	seen[name] = true
	return j, nil
}

func (sh *Shape) check(s *schema.Schema, j int) error {
	c := &s.Columns[j]
	if err := checkEdges(c, sh.Edges); err != nil {
		return err
	}
	bins := feature.NewBins(s, j, sh.Edges)
	if err := checkSteps(bins.Len(), sh.LogOdds, sh.Noise); err != nil {
		return err
	}
	for b := 1; b < len(sh.LogOdds); b++ {
		if d := sh.LogOdds[b] - sh.LogOdds[b-1]; c.Monotone == schema.Increasing && d < 0 || c.Monotone == schema.Decreasing && d > 0 {
			return fmt.Errorf("log-odds of column %q must be %s, as the schema says (bin %d)", c.Name, c.Monotone, b)
		}
	}
	return nil
}

func checkEdges(c *schema.Column, edges []float64) error {
	if c.Kind == schema.Category && len(edges) > 0 {
		return fmt.Errorf("edges of a category must be empty (got %d)", len(edges))
	}
	for i, e := range edges {
		if !(e > c.Lower && e <= c.Upper) || i > 0 && !(e > edges[i-1]) {
			return fmt.Errorf("edges must increase strictly inside the bounds of column %q (edge %d is %g)", c.Name, i, e)
		}
	}
	return nil
}

// checkSteps wants one log-odds and one noise for each of so many bins.
func checkSteps(bins int, logOdds, noise []float64) error {
	if len(logOdds) != bins || len(noise) != bins {
		return fmt.Errorf("log-odds and noise must number %d, one per bin (got %d and %d)", bins, len(logOdds), len(noise))
	}
	for b, x := range logOdds {
		if !(math.Abs(x) <= feature.MaxStep) {
			return fmt.Errorf("log-odds must be at most %d in size (bin %d has %g)", feature.MaxStep, b, x)
		}
		if !(noise[b] >= 0 && noise[b] <= feature.MaxStep) {
			return fmt.Errorf("noise must be from 0 to %d (bin %d has %g)", feature.MaxStep, b, noise[b])
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
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		f.Shapes = append(f.Shapes, feature.Shape{Bins: sh.Bins(s, [2]int{index[sh.Columns[0]], index[sh.Columns[1]]}), Steps: sh.LogOdds})
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
	Pairs     []pairBody  `json:"pairs,omitempty"`
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
	for _, sh := range a.Pairs {
		b.Pairs = append(b.Pairs, pairBody(sh))
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
	for _, sh := range b.Pairs {
		a.Pairs = append(a.Pairs, PairShape(sh))
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
	for k := range b.Pairs {
		empty(&b.Pairs[k].Edges[0])
		empty(&b.Pairs[k].Edges[1])
		empty(&b.Pairs[k].LogOdds)
		empty(&b.Pairs[k].Noise)
	}
}
