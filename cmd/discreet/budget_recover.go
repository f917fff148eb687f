// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/train"
)

// budgetRecover holds the flags of the command.
type budgetRecover struct {
	*app
	ledger commands.LedgerFlag
	all    bool
}

func (a *app) newBudgetRecoverCommand() *cobra.Command {
	b := &budgetRecover{app: a}
	c := &cobra.Command{
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
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return b.recoverJobs(c.Context()) },
	}
	b.ledger.AddFlag(c)
	c.Flags().BoolVar(&b.all, "all", false,
		"settle trainings of other machines too; one that still runs will lose its result")
	cli.Require(c, "ledger")
	return c
}

func (b *budgetRecover) recoverJobs(ctx context.Context) error {
	return b.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
		settled, err := l.Recover(ctx, func(worker string) bool { return train.Ended(worker, b.all) })
		for _, s := range settled {
			if _, err := fmt.Fprintf(b.Stdout, "%s %s: %s\n", s.Dataset, s.Job, s.Why); err != nil {
				return err
			}
		}
		if err == nil && len(settled) == 0 {
			b.Say("nothing to recover")
		}
		return err
	})
}
