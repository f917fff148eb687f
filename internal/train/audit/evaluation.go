// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// Evaluation audits a private evaluation of models on small held-out tables of the schema that differ
// in one row, or in all rows of one person. It searches all noisy counts. rows is as in Learner.
func Evaluation(params evaluation.Params, s *schema.Schema, rows int, src rng.Source) (Subject, error) {
	if rows < 2 {
		return Subject{}, dp.Refuse("audit", "rows", "must be at least 2", rows)
	}
	pl, err := params.Plan(s, rows)
	if err != nil {
		return Subject{}, err
	}
	sub := Subject{Name: fmt.Sprintf("evaluation on %d rows", rows)}
	if s.Relation == dp.AddRemove { // their number is private, and nothing may follow from it
		if pl, err = params.Plan(s, 0); err != nil {
			return Subject{}, err
		}
	}
	for _, n := range AllNeighbours(s, rows, pl.Terms().Scope, src) {
		p, err := evaluationPair(pl, n)
		if err != nil {
			return Subject{}, err
		}
		sub.Pairs = append(sub.Pairs, p)
	}
	return sub, nil
}

// evaluationPair is the pair of evaluations on two neighbouring tables, whose rows are assigned to
// cells once.
func evaluationPair(pl *evaluation.Plan, n Neighbours) (Pair, error) {
	var tabs [2]*memory.Table
	for side, t := range n.Tables {
		cut, err := pl.Cut(t)
		if err != nil {
			return Pair{}, err
		}
		if tabs[side], err = memory.New(cut); err != nil {
			return Pair{}, err
		}
	}
	p := Pair{Name: n.Name}
	for k, cells := range pl.Sizes() {
		for i := range cells {
			p.Outputs = append(p.Outputs, fmt.Sprintf("count %d of partition %d", i+1, k+1))
		}
	}
	p.Draw = Each(len(p.Outputs), func(ctx context.Context, side int, src rng.Source, out []float64) error {
		r, err := guard.Train(ctx, pl, tabs[side], guard.Uncounted{}, mech.NewExit(src))
		if err != nil {
			return err
		}
		for _, cells := range r.Cells {
			out = out[copy(out, cells):]
		}
		return nil
	})
	return p, nil
}
