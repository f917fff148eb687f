// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/train"
)

// LedgerFlag holds the flags that name a ledger and the folder of its anchors.
type LedgerFlag struct {
	Address string // "" if none is named
	anchors AnchorsFlag
}

func (f *LedgerFlag) AddFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.Address, "ledger", "", "the ledger: a `file`, or postgres://user@host/database")
	cli.Keeps(c, "ledger", cli.LedgerTable)
	f.anchors.AddFlag(c)
}

// AnchorsFlag holds the flag that names the folder of anchors.
type AnchorsFlag struct{ dir string }

func (f *AnchorsFlag) AddFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "anchors", "", "the `folder` that records the latest state, so that an old copy is "+
		"refused (default $XDG_STATE_HOME/discreet/anchors)")
	cli.KeepsFolder(c, "anchors", anchor.FolderNames)
}

// Folder returns the folder of anchors.
func (f *AnchorsFlag) Folder() (anchor.Folder, error) {
	if f.dir != "" {
		return anchor.Folder(f.dir), nil
	}
	return anchor.Default()
}

// Anchors returns the folder of anchors.
func (f *LedgerFlag) Anchors() (anchor.Folder, error) { return f.anchors.Folder() }

// Open opens a ledger and checks it against its anchor.
func (f *LedgerFlag) Open(ctx context.Context,
	open func(context.Context, string) (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	folder, err := f.anchors.Folder()
	if err != nil {
		return nil, err
	}
	l, err := open(ctx, f.Address)
	if err != nil {
		return nil, err
	}
	if err := l.Anchor(ctx, folder); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// UseLedger opens an existing ledger, calls use with it and closes it.
func (f *LedgerFlag) UseLedger(ctx context.Context, use func(*ledger.Ledger) error) error {
	l, err := f.Open(ctx, ledger.Open)
	if err != nil {
		return err
	}
	return errors.Join(use(l), l.Close())
}

// WithJob gives j the ledger while use runs. If j is nil, no ledger is opened.
func (f *LedgerFlag) WithJob(ctx context.Context, j *train.Job, use func() error) error {
	if j == nil {
		return use()
	}
	return f.UseLedger(ctx, func(l *ledger.Ledger) error { j.Ledger = l; return use() })
}

// AsUsageError turns a refused parameter into a fault of the command line, and a price above the
// schema's limit into a budget error.
func AsUsageError(err error) error {
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

// AsRefusal turns a refused parameter into a fault of the command line.
func AsRefusal(err error) error {
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &cli.UsageError{Err: err}
	}
	return err
}
