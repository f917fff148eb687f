// SPDX-License-Identifier: Apache-2.0

// Package solver is the sums over rows that solvers of convex problems ask for, as package statistic has
// them. What leaves of them is for guard/perturbed to say.
package solver

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Losses answers an engine.LossQuestion. The label must have two classes, and rows must count once
// each, or as often as the question says.
type Losses engine.LossQuestion

var losses = statistic.Register[Losses]("losses")

func (l Losses) Check(s *schema.Schema) error {
	if err := l.Space.Complete(s); err != nil {
		return err
	}
	ok := l.Halvings >= 0 && l.Halvings <= engine.MaxHalvings && l.Loss.Huber >= 0 &&
		(l.Rows.Weights == nil || len(l.Rows.Weights) >= s.Classes())
	for _, w := range l.Rows.Weights {
		ok = ok && w >= 0 && w <= engine.WeightOne
	}
	if !ok {
		return statistic.ErrParts(losses)
	}
	return engine.CheckLength(l.Space, l.Coef)
}

func (l Losses) Size(v *engine.View) (int, error) {
	if err := checkCounted(losses, v); err != nil {
		return 0, err
	}
	return 1 + limbs*(2+len(l.Coef)+l.hessSize()), engine.CheckLength(l.Space, l.Coef)
}

// checkCounted refuses views of more than two classes, and rows that do not count once each.
func checkCounted(kind string, v *engine.View) error {
	switch n := v.Schema.Classes(); {
	case n != 2:
		return fmt.Errorf("solver: %s need a label with 2 classes (schema %q has %d)", kind, v.Schema.Name, n)
	case v.Weighed:
		return fmt.Errorf("solver: %s count every row once, and these rows weigh what their persons allow", kind)
	}
	return nil
}

// hessSize is the number of entries of the Hessian.
func (l Losses) hessSize() int {
	if !l.Hess {
		return 0
	}
	return len(l.Coef) * (len(l.Coef) + 1) / 2
}

func (l Losses) Columns() []int { return l.Space.Columns }

// Of asks t. At coefficients that are not engine.Bounded, which no message holds, it is 0.
func (l Losses) Of(ctx context.Context, t engine.Table) (*engine.ExactSums, error) {
	out := &engine.ExactSums{}
	if engine.CheckLength(l.Space, l.Coef) == nil && !engine.Bounded(l.Space, l.Coef) {
		out.Grad, out.Hess = make([]engine.Wide, len(l.Coef)), make([]engine.Wide, l.hessSize())
		return out, ctx.Err()
	}
	all, err := statistic.Sum(ctx, t, l)
	if err != nil {
		return nil, err
	}
	out.Rows = uint64(all[0])
	values, rest := cutWide(all[1:], 2)
	out.Whole, out.Part = values[0], values[1]
	out.Grad, rest = cutWide(rest, len(l.Coef))
	out.Hess, _ = cutWide(rest, l.hessSize())
	return out, nil
}

// Floats asks t, and turns the answer into floating-point numbers.
func (l Losses) Floats(ctx context.Context, t engine.Table) (*engine.LossSums, error) {
	s, err := l.Of(ctx, t)
	if err != nil {
		return nil, err
	}
	q := engine.LossQuestion(l)
	return s.Floats(&q, engine.UnitsOf(l.Space, l.Loss, l.Rows, l.Rows.Largest())), nil
}

type lossesAdder struct {
	run  *engine.Run
	rows *kernel.ExactRows
}

func (l Losses) Adder(run *engine.Run) engine.Adder {
	side := run.Positive()
	weigh := func(from int, pos, neg []float64) {
		for i, label := range run.Labels[from:][:len(pos)] {
			weight := 0.0
			if l.Rows.Weights == nil {
				weight = 1
			} else if int(label) < len(l.Rows.Weights) {
				weight = l.Rows.Weights[label]
			}
			pos[i], neg[i] = weight, 0
			if side[label] == 0 {
				pos[i], neg[i] = 0, weight
			}
		}
	}
	q := engine.LossQuestion(l)
	return &lossesAdder{run, kernel.NewExactRows(run.Cols, weigh, l.Rows.Largest(), &q)}
}

func (a *lossesAdder) Add() { a.rows.Add(a.run.Rows()) }

func (a *lossesAdder) AddTo(all []int64) {
	s := a.rows.Sums()
	all[0] += int64(s.Rows)
	all = addWide(all[1:], s.Whole, s.Part)
	all = addWide(all, s.Grad...)
	addWide(all, s.Hess...)
}

// A wide number is three plain ones, limbBits of it each and the rest: so those of a million
// blocks add up without a carry.
const (
	limbBits = 44
	limbs    = 3
)

// addWide adds numbers to the first of sums, and returns the others.
func addWide(sums []int64, numbers ...engine.Wide) []int64 {
	for _, w := range numbers {
		const limb = 1<<limbBits - 1
		middle := w.Low>>limbBits | uint64(w.High)<<(64-limbBits)
		sums[0] += int64(w.Low & limb)
		sums[1] += int64(middle & limb)
		sums[2] += w.High >> (2*limbBits - 64)
		sums = sums[limbs:]
	}
	return sums
}

// cutWide is the first n wide numbers of sums, and the other sums.
func cutWide(sums []int64, n int) (wide []engine.Wide, rest []int64) {
	wide = make([]engine.Wide, n)
	for i := range wide {
		wide[i] = engine.Wide{Low: uint64(sums[0])}
		wide[i].Add(engine.Wide{High: sums[1] >> (64 - limbBits), Low: uint64(sums[1]) << limbBits})
		wide[i].Add(engine.Wide{High: sums[2] << (2*limbBits - 64)})
		sums = sums[limbs:]
	}
	return wide, sums
}
