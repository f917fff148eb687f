// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ClassResiduals adds up, by class and bin, what the labels say beyond a score of all classes: a row of
// class y adds 1 − p(y) to y in its bin, and takes p(k) from every other class k. If the scores are right,
// the sums are about 0. In units of 1/engine.WeightOne; the sizes of what a row adds are together at most
// 2·engine.WeightOne.
type ClassResiduals struct {
	Under *StepScore
	Bins  feature.Bins
}

var _ = Register[ClassResiduals]("class_residuals")

func (c ClassResiduals) Check(s *schema.Schema) error {
	if err := c.Under.check(s, s.Classes()); err != nil {
		return err
	}
	return c.Bins.Check(s)
}

func (c ClassResiduals) Size(v *engine.View) (int, error) {
	return len(c.Under.Start) * c.Bins.Len(), c.Under.checkWhole(v)
}

func (c ClassResiduals) Columns() []int { return c.Bins.Columns() }

func (c ClassResiduals) Score() engine.Score { return c.Under }

func (c ClassResiduals) Of(ctx context.Context, t engine.Table) (byClass [][]int64, err error) {
	all, err := Sum(ctx, t, c)
	if err != nil {
		return nil, err
	}
	byClass, _ = cutLists(all, len(c.Under.Start), c.Bins.Len())
	return byClass, nil
}

type classResidualsAdder struct {
	sums // by class, then bin
	run  *engine.Run
	bins binReader
	size int       // the number of bins
	p    []float64 // of each class
}

func (c ClassResiduals) Adder(run *engine.Run) engine.Adder {
	classes := len(c.Under.Start)
	return &classResidualsAdder{make(sums, classes*c.Bins.Len()), run, binReader{BoundBins: c.Bins.Bind(run.Cols)},
		c.Bins.Len(), make([]float64, classes)}
}

func (a *classResidualsAdder) Add() {
	classes, weight := len(a.p), int64(engine.WeightOne)
	for i, b := range a.bins.read(a.run.Rows()) {
		writeSoftmax(a.run.Scores[i*classes:][:classes], a.p)
		if a.run.Weights != nil {
			weight = int64(a.run.Weights[i])
		}
		for k, x := range a.p {
			units := int64(x * engine.WeightOne) // rounded down, so that all of them together are at most engine.WeightOne
			if k == int(a.run.Labels[i]) {
				units -= engine.WeightOne
			}
			a.sums[k*a.size+int(b)] -= units * weight / engine.WeightOne
		}
	}
}
