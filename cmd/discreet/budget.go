// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/anchor"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/train"
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
  discreet train --data p.csv --schema p.yaml --learner brc --epsilon 0.1 --model m.json \
    --ledger l.db --dataset patients
  discreet budget show --ledger l.db`,
	}
	return cli.Group(c, a.newBudgetInitCommand(), a.newBudgetShowCommand(), a.newBudgetHistoryCommand(),
		a.newBudgetExportCommand(), a.newBudgetVerifyCommand(), a.newBudgetRecoverCommand())
}

// ledgerFlag names a ledger, and where anchors are kept.
type ledgerFlag struct {
	address string
	anchors anchorsFlag
}

func (f *ledgerFlag) addFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "ledger", "", "the ledger: a `file`, or postgres://user@host/database")
	cli.Keeps(c, "ledger", cli.LedgerTable)
	f.anchors.addFlag(c)
}

// anchorsFlag is the folder of anchors.
type anchorsFlag struct{ dir string }

func (f *anchorsFlag) addFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "anchors", "", "the `folder` that records the latest state, so that an old copy is "+
		"refused (default $XDG_STATE_HOME/discreet/anchors)")
	cli.KeepsFolder(c, "anchors")
}

// folder is where anchors are kept.
func (f *anchorsFlag) folder() (anchor.Folder, error) {
	if f.dir != "" {
		return anchor.Folder(f.dir), nil
	}
	return anchor.Default()
}

// open opens a ledger and holds it against its anchor.
func (f *ledgerFlag) open(ctx context.Context,
	open func(context.Context, string) (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	folder, err := f.anchors.folder()
	if err != nil {
		return nil, err
	}
	l, err := open(ctx, f.address)
	if err != nil {
		return nil, err
	}
	if err := l.Anchor(ctx, folder); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// useLedger opens the ledger that is there, lets f use it and closes it.
func (f *ledgerFlag) useLedger(ctx context.Context, use func(*ledger.Ledger) error) error {
	l, err := f.open(ctx, ledger.Open)
	if err != nil {
		return err
	}
	return errors.Join(use(l), l.Close())
}

// withJob gives j the ledger while use runs; where j is nil there is none.
func (f *ledgerFlag) withJob(ctx context.Context, j *train.Job, use func() error) error {
	if j == nil {
		return use()
	}
	return f.useLedger(ctx, func(l *ledger.Ledger) error { j.Ledger = l; return use() })
}

// asUsageError turns a refusal of what was asked for into a fault of the command line, and
// a price that the schema does not allow into one of the budget.
func asUsageError(err error) error {
	if e, ok := errors.AsType[*train.ExcessError](err); ok {
		if !e.Final {
			err = fmt.Errorf("%w; only --exceed-max-epsilon, which the model records, goes beyond it", err)
		}
		return &cli.BudgetError{Err: err}
	}
	if _, ok := errors.AsType[*train.RequestError](err); ok {
		return &cli.UsageError{Err: err}
	}
	return err
}

// asRefusal turns a refused parameter into a fault of the command line.
func asRefusal(err error) error {
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &cli.UsageError{Err: err}
	}
	return err
}

// datasetOf lists the flag --dataset where it is given.
func datasetOf(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func shortenHash(hash string) string { return fmt.Sprintf("%.12s", hash) }
