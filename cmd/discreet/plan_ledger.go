// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// remainder is what a training would leave of a budget.
type remainder struct {
	account
	Asked decimals `json:"asked"`
	// Remains is null where the price exceeds what is left.
	Remains *decimals `json:"remains"`
}

// remainder is nil where no ledger is named.
func (p *plan) remainder(ctx context.Context, price dp.Epsilon) (out *remainder, err error) {
	if (p.ledger.address == "") != (p.dataset == "") {
		return nil, &usageError{&dp.ParamError{Op: "plan", Param: "ledger", Want: "and dataset must be given together"}}
	}
	if p.ledger.address == "" {
		return nil, nil
	}
	err = p.ledger.with(ctx, func(l *ledger.Ledger) error {
		b, err := l.Balances(ctx, p.dataset)
		if err != nil {
			return err
		}
		out = &remainder{account: newAccount(b[0]), Asked: decimals(price)}
		if price <= b[0].Left {
			after := decimals(b[0].Left - price)
			out.Remains = &after
		}
		return nil
	})
	return out, err
}

func (r *remainder) write(w io.Writer) error {
	if r == nil {
		return nil
	}
	eps := func(d decimals) dp.Epsilon { return dp.Epsilon(d) }
	verdict := "train refuses this: it exceeds what is left"
	if r.Remains != nil {
		verdict = fmt.Sprintf("%s would remain", eps(*r.Remains))
	}
	_, err := fmt.Fprintf(w, "\nbudget of %s: total %s, spent %s, reserved %s, left %s; %s\n",
		r.Dataset, eps(r.Total), eps(r.Spent), eps(r.Reserved), eps(r.Left), verdict)
	return err
}
