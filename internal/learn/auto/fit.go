// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Fit charges acct, then reads the rows: for the first fit, once for each product, and
// for the fit that was chosen. After the charge it can fail for a fault of the engine
// or a cancelled context only (1.5).
func (pl *Plan) Fit(ctx context.Context, tab engine.Table, acct learn.Account, exit *mech.Exit) (*model.Model, error) {
	// Where their number is private the declared one was checked.
	if err := learn.CheckDelta("auto", pl.Delta, learn.PublicUnits(tab)); err != nil {
		return nil, err
	}
	if err := acct.Charge(ctx, pl.price(), pl.bill); err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	m, err := pl.fit(ctx, tab, learn.Paid(acct.Counted()), exit)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	m.Privacy = learn.Deal{
		Schema: pl.s, Scope: pl.scope, Epsilon: pl.Epsilon, Delta: pl.Delta, Bill: pl.bill, Claim: "auto: G-AUTO-1",
		NotPrivate: pl.NotPrivate,
	}.Privacy(acct, exit)
	return m, nil
}

func (pl *Plan) fit(ctx context.Context, tab engine.Table, acct learn.Account, exit *mech.Exit) (*model.Model, error) {
	first, err := pl.first.Fit(ctx, tab, acct, exit) // 1.1
	if err != nil {
		return nil, err
	}
	together, err := pl.choose(ctx, tab, scoreOf(first, pl.s), exit)
	if err != nil {
		return nil, err
	}
	if together {
		return pl.grids.Fit(ctx, tab, acct, exit)
	}
	return pl.additive.Fit(ctx, tab, acct, exit)
}
