// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ClassCells counts, for each of Bins, the rows of each class in each bin, or adds up what they weigh:
// a row adds 1, or at most engine.WeightOne, to one cell of each.
type ClassCells struct{ Bins []feature.Bins }

var classCells = Register[ClassCells]("class_cells")

func (c ClassCells) Check(s *schema.Schema) error {
	if len(c.Bins) == 0 {
		return ErrParts(classCells)
	}
	return checkBins(s, c.Bins)
}

func (c ClassCells) Size(v *engine.View) (n int, err error) {
	for k := range c.Bins {
		n += v.Schema.Classes() * c.Bins[k].Len()
	}
	return n, nil
}

func (c ClassCells) Columns() []int { return columnsOf(c.Bins) }

// Of is the counts by bins, class and bin.
func (c ClassCells) Of(ctx context.Context, t engine.Table) ([][][]int64, error) {
	all, err := Sum(ctx, t, c)
	if err != nil {
		return nil, err
	}
	out := make([][][]int64, len(c.Bins))
	for k := range out {
		out[k], all = cutLists(all, t.Schema().Classes(), c.Bins[k].Len())
	}
	return out, nil
}

type classCellsAdder struct {
	sums
	run  *engine.Run
	of   []feature.Bins
	bins []binReader
}

func (c ClassCells) Adder(run *engine.Run) engine.Adder {
	n, _ := c.Size(run.View)
	a := &classCellsAdder{make(sums, n), run, c.Bins, nil}
	for k := range c.Bins {
		a.bins = append(a.bins, binReader{BoundBins: c.Bins[k].Bind(run.Cols)})
	}
	return a
}

func (a *classCellsAdder) Add() {
	into, weights := a.sums, a.run.Weights
	for k := range a.bins {
		read, size := a.bins[k].read(a.run.Rows()), a.of[k].Len()
		for i, label := range a.run.Labels {
			units := int64(1)
			if weights != nil {
				units = int64(min(weights[i], engine.WeightOne))
			}
			into[int(a.run.Label[label])*size+int(read[i])] += units
		}
		into = into[size*a.run.Schema.Classes():]
	}
}
