// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ledger"
)

func (a *app) newBudgetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "budget",
		Short: "declare, show and check privacy budgets",
		Long: `Budget manages the ledger that train --ledger charges. The ledger records how
much privacy loss each data set may cost in total, and how it was spent.

A ledger is one file, or a PostgreSQL database with the address
postgres://user@host/database. The password comes from PGPASSWORD or a password
file; an address that contains a password is refused. Entries are chained by
hashes and never change. A training that is interrupted has spent its price.`,
		Example: `  discreet budget init --ledger l.db --dataset patients --epsilon 1.0
  discreet train --data p.csv --schema p.yaml --epsilon 0.1 --model m.json \
    --ledger l.db --dataset patients
  discreet budget show --ledger l.db`,
	}
	return cli.Group(c, a.newBudgetInitCommand(), a.newBudgetShowCommand(), a.newBudgetForecastCommand(),
		a.newBudgetHistoryCommand(), a.newBudgetVerifyCommand(), a.newBudgetRecoverCommand(),
		a.newBudgetSignCommand(), a.newBudgetAppointCommand(), a.newBudgetAllotCommand(), a.newBudgetApproveCommand(),
		a.newBudgetRefuseCommand(), a.newBudgetReportCommand())
}

// budgetReader holds the flags of commands that only read or settle what a ledger contains.
type budgetReader struct {
	*app
	ledger  commands.LedgerFlag
	dataset string
	json    bool
}

// addTo makes c a command that calls use with the ledger.
func (b *budgetReader) addTo(c *cobra.Command, use func(context.Context, *ledger.Ledger) error) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		return b.ledger.UseLedger(c.Context(), func(l *ledger.Ledger) error { return use(c.Context(), l) })
	}
	b.ledger.AddFlag(c)
	cli.Require(c, "ledger")
	return c
}

func shortenHash(hash string) string { return fmt.Sprintf("%.12s", hash) }
