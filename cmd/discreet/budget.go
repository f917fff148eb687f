// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/train"
)

func (a *app) budget() *cobra.Command {
	c := &cobra.Command{
		Use:   "budget",
		Short: "declare, show and check privacy budgets",
		Long: `Budget keeps the ledger that train --ledger charges: how much privacy loss each
data set may cost in all, and what became of it.

A ledger is one file, or a PostgreSQL database named as
postgres://user@host/database. Its password comes from PGPASSWORD or a password
file and never stands in the address. Entries are chained by hashes and are
never changed; an interrupted training has spent its price.`,
		Example: `  discreet budget init --ledger l.db --dataset patients --epsilon 1.0
  discreet train --data p.csv --schema p.yaml --learner brc --epsilon 0.1 --model m.json \
    --ledger l.db --dataset patients
  discreet budget show --ledger l.db`,
	}
	return cli.Group(c, a.budgetInit(), a.budgetShow(), a.budgetHistory(), a.budgetExport(), a.budgetVerify(), a.budgetRecover())
}

// ledgerFlag names a ledger.
type ledgerFlag struct{ address string }

func (f *ledgerFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "ledger", "", "the ledger: a `file`, or postgres://user@host/database")
}

// with opens the ledger that is there, lets f use it and closes it.
func (f *ledgerFlag) with(ctx context.Context, use func(*ledger.Ledger) error) error {
	l, err := ledger.Open(ctx, f.address)
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
	return f.with(ctx, func(l *ledger.Ledger) error { j.Ledger = l; return use() })
}

// account is a data set's balance for programs. The plain numbers are for
// display; the nano and femto ones are what is counted.
type account struct {
	Dataset  string   `json:"dataset"`
	Total    decimals `json:"total"`
	Spent    decimals `json:"spent"`
	Reserved decimals `json:"reserved"`
	Left     decimals `json:"left"`
	Nano     struct {
		Total    dp.Epsilon `json:"total"`
		Spent    dp.Epsilon `json:"spent"`
		Reserved dp.Epsilon `json:"reserved"`
		Left     dp.Epsilon `json:"left"`
	} `json:"epsilon_nano"`
	Femto struct {
		Total    dp.Delta `json:"total"`
		Spent    dp.Delta `json:"spent"`
		Reserved dp.Delta `json:"reserved"`
		Left     dp.Delta `json:"left"`
	} `json:"delta_femto"`
	Parts []partAccount `json:"parts,omitempty"`
	Unit  string        `json:"unit"`
	Note  string        `json:"note"`
}

// partAccount is one part of a data set; what is left is for trainings on it.
type partAccount struct {
	Name     string   `json:"name"`
	Spent    decimals `json:"spent"`
	Reserved decimals `json:"reserved"`
	Left     decimals `json:"left"`
	Femto    struct {
		Spent    dp.Delta `json:"spent"`
		Reserved dp.Delta `json:"reserved"`
		Left     dp.Delta `json:"left"`
	} `json:"delta_femto"`
}

// decimals is an ε written as its exact decimal.
type decimals dp.Epsilon

func (d decimals) MarshalJSON() ([]byte, error) { return []byte(dp.Epsilon(d).String()), nil }

func newAccount(b ledger.Balance) account {
	a := account{
		Dataset: b.Name, Unit: b.Unit, Note: b.Note,
		Total: decimals(b.Epsilon), Spent: decimals(b.Spent), Reserved: decimals(b.Reserved), Left: decimals(b.Left),
	}
	a.Nano.Total, a.Nano.Spent, a.Nano.Reserved, a.Nano.Left = b.Epsilon, b.Spent, b.Reserved, b.Left
	a.Femto.Total, a.Femto.Spent, a.Femto.Reserved, a.Femto.Left = b.Delta, b.SpentDelta, b.ReservedDelta, b.LeftDelta
	for _, p := range b.ByPart {
		own := partAccount{Name: p.Name, Spent: decimals(p.Spent.Epsilon), Reserved: decimals(p.Reserved.Epsilon), Left: decimals(p.Left.Epsilon)}
		own.Femto.Spent, own.Femto.Reserved, own.Femto.Left = p.Spent.Delta, p.Reserved.Delta, p.Left.Delta
		a.Parts = append(a.Parts, own)
	}
	return a
}

// usage turns a refusal of what was asked for into a fault of the command line, and
// a price that the schema does not allow into one of the budget.
func usage(err error) error {
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

// refused turns a refused parameter into a fault of the command line.
func refused(err error) error {
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

func short(hash string) string { return fmt.Sprintf("%.12s", hash) }
