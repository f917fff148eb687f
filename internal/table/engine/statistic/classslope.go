// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"cmp"
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ClassSlope adds up the first derivative of log p(label) along a shape and half its second
// derivative, negated, under a score of all classes. The shape is Along, or, if that is nil, what the terms
// of the score from From on add. A row's contribution is clipped so that the
// absolute values of both add up to at most Most nats > 0: at most engine.WeightOne units.
type ClassSlope struct {
	Under *StepScore
	Along *feature.LevelShape
	Most  float64
	From  int
}

// Slope is the derivative, at 0, of the labels' log-likelihood by the multiple of a shape that is
// added to the scores, and half of the negated second derivative. Both are in units of
// Most/engine.WeightOne, HalfCurve in units of that: it takes only half of a row's limit, since it
// only determines the length of a step.
type Slope struct{ Gain, HalfCurve int64 }

var classSlope = Register[ClassSlope]("class_slope")

func (c ClassSlope) Check(s *schema.Schema) error {
	if !(c.Most > 0 && c.Most <= math.MaxFloat64) {
		return ErrParts(classSlope)
	}
	if c.Along == nil {
		if err := c.Under.check(s, s.Classes()); err != nil || c.From < 0 || c.From > len(c.Under.Terms) {
			return cmp.Or(err, ErrParts(classSlope))
		}
		return nil
	}
	if err := c.Along.Check(s); err != nil {
		return err
	}
	ok := c.Along.OfColumn() && len(c.Along.Steps) == s.Classes()
	for _, steps := range c.Along.Steps {
		ok = ok && len(steps) == c.Along.Len()
	}
	if !ok {
		return ErrParts(classSlope)
	}
	return c.Under.check(s, s.Classes())
}

func (c ClassSlope) Size(v *engine.View) (int, error) { return 2, c.Under.checkWhole(v) }

func (c ClassSlope) Columns() []int {
	if c.Along == nil {
		return c.Under.TermColumns(c.From)
	}
	return c.Along.Columns()
}

func (c ClassSlope) Score() engine.Score { return c.Under }

func (c ClassSlope) Of(ctx context.Context, t engine.Table) (Slope, error) {
	all, err := Sum(ctx, t, c)
	if err != nil {
		return Slope{}, err
	}
	return Slope{all[0], all[1]}, nil
}

type classSlopeAdder struct {
	sums
	run   *engine.Run
	bins  binReader
	steps []float64 // by bin, then class; of one row if add is set
	add   func(units []int32)
	units []int32   // of rows, then class, by add
	p     []float64 // of each class
	most  float64
}

func (c ClassSlope) Adder(run *engine.Run) engine.Adder {
	a := &classSlopeAdder{sums: make(sums, 2), run: run, p: make([]float64, len(c.Under.Start)), most: c.Most}
	if c.Along == nil {
		a.add, a.steps = c.Under.bindTerms(run, c.From), make([]float64, len(c.Under.Start))
		return a
	}
	a.bins = binReader{BoundBins: c.Along.Bind(run.Cols)}
	for b := range c.Along.Len() {
		for _, steps := range c.Along.Steps {
			a.steps = append(a.steps, steps[b])
		}
	}
	return a
}

func (a *classSlopeAdder) Add() {
	if a.add != nil {
		a.units = room(a.units, a.run.Rows()*len(a.p))
		clear(a.units)
		a.add(a.units)
		for i := range a.run.Labels {
			for k, x := range a.units[i*len(a.p):][:len(a.p)] {
				a.steps[k] = float64(x) / feature.ScoreOne
			}
			a.addRow(i, a.steps)
		}
		return
	}
	for i, b := range a.bins.read(a.run.Rows()) {
		a.addRow(i, a.steps[int(b)*len(a.p):][:len(a.p)])
	}
}

func (a *classSlopeAdder) addRow(i int, row []float64) {
	writeSoftmax(a.run.Scores[i*len(a.p):][:len(a.p)], a.p)
	mean, square := 0.0, 0.0
	for k, x := range row {
		mean += a.p[k] * x
		square += a.p[k] * (x * x)
	}
	first := row[a.run.Labels[i]] - mean
	half := math.Max(0, square-mean*mean) / 2
	scale := 1 / math.Max(a.most, math.Abs(first)+half)
	// Truncated, so that their sizes add up to engine.WeightOne at most.
	one, two := int64(first*scale*engine.WeightOne), int64(half*scale*engine.WeightOne)
	if max(one, -one)+two > engine.WeightOne || min(one+engine.WeightOne, two) < 0 {
		one, two = 0, 0 // not numbers: steps that a learner should not have
	}
	if a.run.Weights != nil { // division truncates, too
		w := int64(a.run.Weights[i])
		one, two = one*w/engine.WeightOne, two*w/engine.WeightOne
	}
	a.sums[0] += one
	a.sums[1] += two
}
