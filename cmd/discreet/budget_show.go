// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

func (a *app) newBudgetShowCommand() *cobra.Command {
	b := &budgetReader{app: a}
	c := b.addTo(&cobra.Command{
		Use:   "show",
		Short: "show what is spent, reserved and left",
		Long: `Show prints the total of each data set and how it was used: spent by trainings
that began to read, reserved by trainings that have not yet begun, and left. If
a data set has parts, only the most expensive part counts. Each part in use is
listed with its own spending, and so is each cohort. A cohort is retired if
nothing is left for trainings that name it.`,
		Example: `  discreet budget show --ledger l.db
  discreet budget show --ledger l.db --dataset patients --json`,
	}, b.showBalances)
	c.Flags().StringVar(&b.dataset, "dataset", "", "only the data set of this `name`")
	c.Flags().BoolVar(&b.json, "json", false, "print one JSON object")
	return c
}

func (b *budgetReader) showBalances(ctx context.Context, l *ledger.Ledger) error {
	var only []string
	if b.dataset != "" {
		only = append(only, b.dataset)
	}
	all, err := l.Balances(ctx, only...)
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
}

func writeBalances(w io.Writer, all []ledger.Balance) error {
	var s strings.Builder
	plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "dataset", "total", "spent", "reserved", "left")
	for _, b := range all {
		plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", b.Name, b.Epsilon, b.Spent, b.Reserved, b.Left)
		if b.Delta > 0 {
			plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "  delta", b.Delta, b.SpentDelta, b.ReservedDelta, b.LeftDelta)
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
				plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", kind+p.Name, "", p.Spent.Epsilon, p.Reserved.Epsilon, left)
			}
		}
		if b.CohortBy != "" {
			plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "  any new cohort", "", "", "", b.ForNew.Epsilon)
		}
		if i := b.OfInstitution; i != nil {
			left := i.Left.Epsilon.String()
			if i.Exposed {
				left = "not protected"
			}
			plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "  institution", i.Total.Epsilon, i.Spent.Epsilon, i.Reserved.Epsilon, left)
			if i.Total.Delta > 0 {
				plaintext.Fprintf(&s, "%-24s %14s %14s %14s %14s\n", "  institution, delta", i.Total.Delta, i.Spent.Delta, i.Reserved.Delta,
					i.Left.Delta)
			}
		}
		if b.Note != "" {
			plaintext.Fprintf(&s, "  note: %s\n", b.Note)
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}
