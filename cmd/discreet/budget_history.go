// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

func (a *app) newBudgetHistoryCommand() *cobra.Command {
	b := &budgetReader{app: a}
	c := b.addTo(&cobra.Command{
		Use:   "history",
		Short: "list the entries, oldest first",
		Long: `History lists the entries of a ledger, oldest first, one line each. With --json
each line is an object with everything that the entry's hash covers. Results are
not included; train with the same job ID returns them.`,
		Example: `  discreet budget history --ledger l.db --dataset patients
  discreet budget history --ledger l.db --json > ledger.jsonl`,
	}, func(ctx context.Context, l *ledger.Ledger) error {
		if b.json {
			return writeObjects(ctx, b.Stdout, l, b.dataset)
		}
		return writeTable(ctx, b.Stdout, l, b.dataset)
	})
	c.Flags().StringVar(&b.dataset, "dataset", "", "only the data set of this `name`")
	c.Flags().BoolVar(&b.json, "json", false, "print one JSON object a line")
	return c
}

// writeTable writes the entries for a reader, in columns as wide as their widest value.
func writeTable(ctx context.Context, to io.Writer, l *ledger.Ledger, dataset string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(w, "entry\tat\tkind\tdataset\tjob\tepsilon\tdelta\thash\n"); err != nil {
		return err
	}
	if err := l.History(ctx, dataset, func(e ledger.Entry) error {
		epsilon, delta, name := "", "", e.Dataset
		if e.Epsilon > 0 {
			epsilon = e.Epsilon.String()
		}
		if e.Delta > 0 {
			delta = e.Delta.String()
		}
		if e.Part != "" {
			name += "/" + e.Part
		}
		_, err := plaintext.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Seq, e.At, e.Kind, name, e.Job, epsilon, delta,
			shortenHash(e.Hash))
		return err
	}); err != nil {
		return err
	}
	return w.Flush()
}

// writeObjects writes the entries for a program.
func writeObjects(ctx context.Context, to io.Writer, l *ledger.Ledger, dataset string) error {
	w := bufio.NewWriter(to)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := l.History(ctx, dataset, func(e ledger.Entry) error { return enc.Encode(e) }); err != nil {
		return err
	}
	return w.Flush()
}
