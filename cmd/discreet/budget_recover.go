// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/train"
)

func (a *app) newBudgetRecoverCommand() *cobra.Command {
	var all bool
	b := &budgetReader{app: a}
	c := b.addTo(&cobra.Command{
		Use:   "recover",
		Short: "finish or close interrupted trainings",
		Long: `Recover settles interrupted trainings. There are three cases:

- If a training had not begun to read, its price is returned.
- If it had begun, its price is spent, and the job is closed.
- If its result was stored, the model file is written again with exactly the
  same bytes, unless another file has its name.

Trainings that still run on this machine are left alone. Trainings of other
machines are left alone too, because recover cannot find out whether they still
run; --all settles them as well.`,
		Example: `  discreet budget recover --ledger l.db`,
	}, func(ctx context.Context, l *ledger.Ledger) error { return b.recoverJobs(ctx, l, all) })
	c.Flags().BoolVar(&all, "all", false,
		"settle trainings of other machines too; one that still runs will lose its result")
	return c
}

func (b *budgetReader) recoverJobs(ctx context.Context, l *ledger.Ledger, all bool) error {
	settled, err := l.Recover(ctx, func(worker string) bool { return train.Ended(worker, all) })
	for _, s := range settled {
		if _, err := plaintext.Fprintf(b.Stdout, "%s %s: %s\n", s.Dataset, s.Job, s.Why); err != nil {
			return err
		}
	}
	if err == nil && len(settled) == 0 {
		b.Say("nothing to recover")
	}
	return err
}
