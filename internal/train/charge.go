// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
)

// Charge charges the training to its Job for a caller who holds the rows and trains on them. rows is 0
// if the number is unknown or not public. The caller must commit the job that it returns. If the job
// already has a result, nothing is charged.
func (t *Training) Charge(ctx context.Context, rows int) (*ledger.Job, dp.Price, error) {
	if err := t.Check(); err != nil {
		return nil, dp.Price{}, err
	}
	pl, err := t.Request.Plan(t.Schema, rows)
	if err != nil {
		return nil, dp.Price{}, err
	}
	return t.chargeTerms(ctx, pl.Terms().Price, pl.Terms().Bill)
}

// Charge is as in Training, for an evaluation.
func (e *Evaluation) Charge(ctx context.Context, rows int) (*ledger.Job, dp.Price, error) {
	if err := e.Check(); err != nil {
		return nil, dp.Price{}, err
	}
	pl, err := e.planFor(rows)
	if err != nil {
		return nil, dp.Price{}, err
	}
	if err := e.nameModels(); err != nil {
		return nil, dp.Price{}, err
	}
	return e.chargeTerms(ctx, pl.Terms().Price, pl.Terms().Bill)
}

func (t *Training) chargeTerms(ctx context.Context, price dp.Price, bill []dp.Event) (*ledger.Job, dp.Price, error) {
	j, err := t.openJob(ctx)
	if err != nil || j.Stored() != nil {
		return j, price, err
	}
	return j, price, j.Charge(ctx, price, bill)
}
