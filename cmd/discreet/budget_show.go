// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
)

// budgetShow holds the flags of the command.
type budgetShow struct {
	*app
	ledger  commands.LedgerFlag
	dataset string
	json    bool
}

func (a *app) newBudgetShowCommand() *cobra.Command {
	b := &budgetShow{app: a}
	c := &cobra.Command{
		Use:   "show",
		Short: "show what is spent, reserved and left",
		Long: `Show prints the total of each data set and how it was used: spent by trainings
that began to read, reserved by trainings that have not yet begun, and left. If
a data set has parts, only the most expensive part counts. Each part in use is
listed with its own spending, and so is each cohort. A cohort is retired if
nothing is left for trainings that name it.`,
		Example: `  discreet budget show --ledger l.db
  discreet budget show --ledger l.db --dataset patients --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.showBalances(c.Context()) },
	}
	b.ledger.AddFlag(c)
	c.Flags().StringVar(&b.dataset, "dataset", "", "only the data set of this `name`")
	c.Flags().BoolVar(&b.json, "json", false, "print one JSON object")
	cli.Require(c, "ledger")
	return c
}

func (b *budgetShow) showBalances(ctx context.Context) error {
	return b.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
		all, err := l.Balances(ctx, datasetOf(b.dataset)...)
		switch {
		case err != nil:
			return err
		case b.json && b.dataset != "":
			return cli.WriteJSON(b.Stdout, all[0].Statement())
		case b.json:
			list := []ledger.Statement{}
			for _, one := range all {
				list = append(list, one.Statement())
			}
			return cli.WriteJSON(b.Stdout, map[string]any{"datasets": list})
		}
		return writeBalances(b.Stdout, all)
	})
}

func writeBalances(w io.Writer, all []ledger.Balance) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "dataset", "total", "spent", "reserved", "left")
	for _, b := range all {
		fmt.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", b.Name, b.Epsilon, b.Spent, b.Reserved, b.Left)
		if b.Delta > 0 {
			fmt.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "  delta", b.Delta, b.SpentDelta, b.ReservedDelta, b.LeftDelta)
		}
		kind := "  part "
		if b.CohortBy != "" {
			kind = "  cohort "
		}
		for _, p := range b.ByPart {
			if p.Spent != (dp.Price{}) || p.Reserved != (dp.Price{}) {
				left := p.Left.Epsilon.String()
				if b.CohortBy != "" && p.Retired() {
					left = "retired"
				}
				fmt.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", kind+p.Name, "", p.Spent.Epsilon, p.Reserved.Epsilon, left)
			}
		}
		if b.CohortBy != "" {
			fmt.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "  any new cohort", "", "", "", b.ForNew.Epsilon)
		}
		if b.Note != "" {
			fmt.Fprintf(&s, "  note: %s\n", b.Note)
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}
