// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
)

// budgetHistory holds the flags of the commands history and export.
type budgetHistory struct {
	*app
	ledger  commands.LedgerFlag
	dataset string
	write   func(w *bufio.Writer, e ledger.Entry) error
}

func (a *app) newBudgetHistoryCommand() *cobra.Command {
	b := &budgetHistory{app: a, write: writeLine}
	return b.addFlags(&cobra.Command{
		Use:     "history",
		Short:   "list the entries, oldest first",
		Long:    `History lists the entries of a ledger, oldest first, one line each.`,
		Example: `  discreet budget history --ledger l.db --dataset patients`,
	})
}

func (a *app) newBudgetExportCommand() *cobra.Command {
	b := &budgetHistory{app: a, write: writeEntry}
	return b.addFlags(&cobra.Command{
		Use:   "export",
		Short: "print the entries with their hashes, one JSON object each",
		Long: `Export prints the entries of a ledger, oldest first, as one JSON object a line.
Each object contains everything that the entry's hash covers. Results are not
included; train with the same job ID returns them.`,
		Example: `  discreet budget export --ledger l.db > ledger.jsonl`,
	})
}

func (b *budgetHistory) addFlags(c *cobra.Command) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return b.listEntries(c.Context()) }
	b.ledger.AddFlag(c)
	c.Flags().StringVar(&b.dataset, "dataset", "", "only the data set of this `name`")
	cli.Require(c, "ledger")
	return c
}

func (b *budgetHistory) listEntries(ctx context.Context) error {
	return b.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
		w := bufio.NewWriter(b.Stdout)
		if err := l.History(ctx, b.dataset, func(e ledger.Entry) error { return b.write(w, e) }); err != nil {
			return err
		}
		return w.Flush()
	})
}

func writeLine(w *bufio.Writer, e ledger.Entry) error {
	price := ""
	if e.Epsilon > 0 {
		price = "epsilon " + e.Epsilon.String()
	}
	if e.Delta > 0 {
		price += " delta " + e.Delta.String()
	}
	name := e.Dataset
	if e.Part != "" {
		name += "/" + e.Part
	}
	_, err := fmt.Fprintf(w, "%6d  %s  %-9s  %-20s  %-26s  %-18s  %s\n", e.Seq, e.At, e.Kind, name, e.Job, price,
		shortenHash(e.Hash))
	return err
}

func writeEntry(w *bufio.Writer, e ledger.Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}
