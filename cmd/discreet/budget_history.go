// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

func (a *app) newBudgetHistoryCommand() *cobra.Command {
	return a.newEntriesCommand(writeLine, &cobra.Command{
		Use:     "history",
		Short:   "list the entries, oldest first",
		Long:    `History lists the entries of a ledger, oldest first, one line each.`,
		Example: `  discreet budget history --ledger l.db --dataset patients`,
	})
}

func (a *app) newBudgetExportCommand() *cobra.Command {
	return a.newEntriesCommand(writeEntry, &cobra.Command{
		Use:   "export",
		Short: "print the entries with their hashes, one JSON object each",
		Long: `Export prints the entries of a ledger, oldest first, as one JSON object a line.
Each object contains everything that the entry's hash covers. Results are not
included; train with the same job ID returns them.`,
		Example: `  discreet budget export --ledger l.db > ledger.jsonl`,
	})
}

// newEntriesCommand makes c a command that writes every entry.
func (a *app) newEntriesCommand(write func(w *bufio.Writer, e ledger.Entry) error, c *cobra.Command) *cobra.Command {
	b := &budgetReader{app: a}
	b.addTo(c, func(ctx context.Context, l *ledger.Ledger) error {
		w := bufio.NewWriter(b.Stdout)
		if err := l.History(ctx, b.dataset, func(e ledger.Entry) error { return write(w, e) }); err != nil {
			return err
		}
		return w.Flush()
	})
	c.Flags().StringVar(&b.dataset, "dataset", "", "only the data set of this `name`")
	return c
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
	_, err := plaintext.Fprintf(w, "%6d  %s  %-9s  %-20s  %-26s  %-18s  %s\n", e.Seq, e.At, e.Kind, name, e.Job, price,
		shortenHash(e.Hash))
	return err
}

func writeEntry(w *bufio.Writer, e ledger.Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}
