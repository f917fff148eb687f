// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Right counts, for each of Cuts, the rows that are answered rightly by calling positive whatever
// scores at least the cut: a row adds 0 or 1 to each. Coef is as a model holds it, the intercept last.
// The label must have two classes, and rows must count once each.
type Right struct {
	Space *feature.Space
	Coef  []float64
	Cuts  engine.Cuts
}

var right = statistic.Register[Right]("right")

const maxCuts = 1 << 16

func (r Right) Check(s *schema.Schema) error {
	if err := r.Space.Complete(s); err != nil {
		return err
	}
	if r.Cuts.Count > maxCuts {
		return statistic.ErrParts(right)
	}
	return r.Cuts.Check(r.Space, r.Coef)
}

func (r Right) Size(v *engine.View) (int, error) {
	if err := checkCounted(right, v); err != nil {
		return 0, err
	}
	return r.Cuts.Count, r.Cuts.Check(r.Space, r.Coef)
}

func (r Right) Columns() []int { return r.Space.Columns }

func (r Right) Of(ctx context.Context, t engine.Table) ([]int64, error) {
	return statistic.Sum(ctx, t, r)
}

type rightAdder struct {
	*kernel.RightRows
	run  *engine.Run
	side [1 << 8]uint8
}

func (r Right) Adder(run *engine.Run) engine.Adder {
	return &rightAdder{kernel.NewRightRows(r.Space, run.Cols, r.Coef, r.Cuts), run, run.Positive()}
}

func (a *rightAdder) Add() { a.RightRows.Add(a.run.Labels, &a.side) }
