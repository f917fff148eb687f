// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// budgetVerify holds the flags of the command.
type budgetVerify struct {
	*app
	ledger commands.LedgerFlag
	anchor string
}

func (a *app) newBudgetVerifyCommand() *cobra.Command {
	b := &budgetVerify{app: a}
	c := &cobra.Command{
		Use:   "verify",
		Short: "check every entry, sum and stored result",
		Long: `Verify reads the whole ledger. It checks that each entry refers to the one
before, that every step is in order, that no total is exceeded, and that stored
results match what was committed. It prints the head, a hash that covers all
entries so far.

If a ledger is replaced as a whole by an old copy, for example from a backup,
the copy is consistent. You can detect it only with a head that you stored
elsewhere: pass the latest one as --anchor.`,
		Example: `  discreet budget verify --ledger l.db
  discreet budget verify --ledger l.db --anchor 41:9f2c...`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.verifyLedger(c.Context()) },
	}
	b.ledger.AddFlag(c)
	c.Flags().StringVar(&b.anchor, "anchor", "", "a `head` that verify printed earlier; the ledger must contain it")
	cli.Require(c, "ledger")
	return c
}

func (b *budgetVerify) verifyLedger(ctx context.Context) error {
	var anchor *ledger.Head
	if b.anchor != "" {
		seq, hash, ok := strings.Cut(b.anchor, ":")
		n, err := strconv.ParseInt(seq, 10, 64)
		if !ok || err != nil || n < 1 || len(hash) != 64 {
			return cli.Refuse("budget verify", "anchor", "must be a head as verify prints it, number:hash",
				strconv.Quote(b.anchor))
		}
		anchor = &ledger.Head{Seq: n, Hash: hash}
	}
	return b.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
		h, err := l.Verify(ctx, anchor)
		if err != nil {
			return err
		}
		_, err = plaintext.Fprintf(b.Stdout, "ok: %s\nhead %d:%s\n", plaintext.Count(int(h.Seq), "entry"), h.Seq, h.Hash)
		return err
	})
}
