// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ClassResiduals adds up, by class and bin, what the labels say beyond a score of all classes.
type ClassResiduals struct {
	Under *StepScore
	Bins  feature.Bins
}

// Residuals are, by class and bin, what the labels say beyond the scores: a row
// of class y adds 1 − p(y) to Above[y] in its bin and p(k) to Below[k] for every other
// class k. Where the scores are right the two balance. In units of 1/engine.WeightOne; a row
// adds at most 2·engine.WeightOne over all cells.
type Residuals struct{ Above, Below [][]int64 }

var _ = Register[ClassResiduals]("class_residuals")

func (c ClassResiduals) Check(s *schema.Schema) error {
	if err := c.Under.check(s, s.Classes()); err != nil {
		return err
	}
	return c.Bins.Check(s)
}

func (c ClassResiduals) Size(v *engine.View) (int, error) {
	return 2 * len(c.Under.Start) * c.Bins.Len(), c.Under.checkWhole(v)
}

func (c ClassResiduals) Columns() []int { return c.Bins.Columns() }

func (c ClassResiduals) Score() engine.Score { return c.Under }

func (c ClassResiduals) Of(ctx context.Context, t engine.Table) (out Residuals, err error) {
	all, err := Sum(ctx, t, c)
	if err != nil {
		return out, err
	}
	out.Above, all = cutLists(all, len(c.Under.Start), c.Bins.Len())
	out.Below, _ = cutLists(all, len(c.Under.Start), c.Bins.Len())
	return out, nil
}

type classResidualsAdder struct {
	sums // above, then below; by class, then bin
	run  *engine.Run
	bins binReader
	size int       // the number of bins
	p    []float64 // of each class
}

func (c ClassResiduals) Adder(run *engine.Run) engine.Adder {
	classes := len(c.Under.Start)
	return &classResidualsAdder{make(sums, 2*classes*c.Bins.Len()), run, binReader{BoundBins: c.Bins.Bind(run.Cols)},
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
				a.sums[k*a.size+int(b)] += (engine.WeightOne - units) * weight / engine.WeightOne
			} else {
				a.sums[(classes+k)*a.size+int(b)] += units * weight / engine.WeightOne
			}
		}
	}
}
