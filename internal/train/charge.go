// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// Charge charges the training to its Job for a caller who holds the rows and trains on them, and returns
// the terms of what it charged. units is the number of rows, or of persons, of the caller's table; it is
// not used where the number is private. The caller must commit the job, with a result of these terms. If
// the job already has a result, nothing is charged.
func (t *Training) Charge(ctx context.Context, units int) (*ledger.Job, guard.Terms, error) {
	if err := t.Check(); err != nil {
		return nil, guard.Terms{}, err
	}
	if t.Schema.Relation != dp.ReplaceOne {
		units = 0
	}
	pl, err := t.Request.Plan(t.Schema, units)
	if err != nil {
		return nil, guard.Terms{}, err
	}
	return t.chargeTerms(ctx, pl.Terms())
}

// Charge is as in Training, for an evaluation.
func (e *Evaluation) Charge(ctx context.Context, units int) (*ledger.Job, guard.Terms, error) {
	if err := e.Check(); err != nil {
		return nil, guard.Terms{}, err
	}
	pl, err := e.planFor(units)
	if err != nil {
		return nil, guard.Terms{}, err
	}
	if err := e.nameModels(); err != nil {
		return nil, guard.Terms{}, err
	}
	return e.chargeTerms(ctx, pl.Terms())
}

func (t *Training) chargeTerms(ctx context.Context, terms guard.Terms) (*ledger.Job, guard.Terms, error) {
	j, err := t.openJob(ctx)
	if err != nil || j.Stored() != nil {
		return j, terms, err
	}
	return j, terms, j.Charge(ctx, terms.Price, terms.Bill)
}
