// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
)

// remainder is what a training would leave of a budget.
type remainder struct {
	ledger.Statement
	Part       string         `json:"part"` // "" where the training reads all
	Asked      ledger.Decimal `json:"asked"`
	AskedDelta dp.Delta       `json:"asked_delta_femto"`
	// Both are null where the price exceeds what is left.
	Remains      *ledger.Decimal `json:"remains"`
	RemainsDelta *dp.Delta       `json:"remains_delta_femto"`
}

// findRemainder is nil where no ledger is named.
func (p *plan) findRemainder(ctx context.Context, price dp.Price) (out *remainder, err error) {
	if (p.ledger.address == "") != (p.dataset == "") {
		return nil, cli.Refuse("plan", "ledger", "and dataset must be given together", nil)
	}
	if p.ledger.address == "" {
		return nil, nil
	}
	err = p.ledger.useLedger(ctx, func(l *ledger.Ledger) error {
		b, err := l.Balances(ctx, p.dataset)
		if err != nil {
			return err
		}
		left, err := b[0].LeftFor(p.part)
		if err != nil {
			return err
		}
		out = &remainder{Statement: b[0].Statement(), Part: p.part, Asked: ledger.Decimal(price.Epsilon),
			AskedDelta: price.Delta}
		if price.Epsilon <= left.Epsilon && price.Delta <= left.Delta {
			after, afterDelta := ledger.Decimal(left.Epsilon-price.Epsilon), left.Delta-price.Delta
			out.Remains, out.RemainsDelta = &after, &afterDelta
		}
		return nil
	})
	return out, err
}

func (r *remainder) writeText(w io.Writer) error {
	if r == nil {
		return nil
	}
	eps := func(d ledger.Decimal) dp.Epsilon { return dp.Epsilon(d) }
	verdict := "train refuses this: it exceeds what is left"
	if r.Remains != nil {
		verdict = fmt.Sprintf("%s would remain", eps(*r.Remains))
	}
	of := r.Dataset
	if r.Part != "" {
		of += ", part " + r.Part
	}
	_, err := fmt.Fprintf(w, "\nbudget of %s: total %s, spent %s, reserved %s, left %s; %s\n",
		of, eps(r.Total), eps(r.Spent), eps(r.Reserved), eps(r.Left), verdict)
	if err != nil || r.Femto.Total == 0 {
		return err
	}
	if verdict = "not enough, or epsilon is not"; r.RemainsDelta != nil {
		verdict = fmt.Sprintf("%s would remain", *r.RemainsDelta)
	}
	_, err = fmt.Fprintf(w, "  delta: total %s, spent %s, reserved %s, left %s; %s\n",
		r.Femto.Total, r.Femto.Spent, r.Femto.Reserved, r.Femto.Left, verdict)
	return err
}
