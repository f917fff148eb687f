// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
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
		a.newBudgetHistoryCommand(),
		a.newBudgetExportCommand(), a.newBudgetVerifyCommand(), a.newBudgetRecoverCommand(),
		a.newBudgetKeygenCommand(), a.newBudgetAppointCommand(), a.newBudgetAllotCommand(), a.newBudgetApproveCommand(),
		a.newBudgetRefuseCommand(), a.newBudgetReportCommand())
}

// datasetOf returns the value of --dataset as a list, which is empty if the flag is not given.
func datasetOf(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func shortenHash(hash string) string { return fmt.Sprintf("%.12s", hash) }
