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
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// budgetInit is the flags of the command.
type budgetInit struct {
	*app
	ledger                                    ledgerFlag
	dataset, epsilon, delta, unit, why, parts string
}

func (a *app) newBudgetInitCommand() *cobra.Command {
	b := &budgetInit{app: a}
	c := &cobra.Command{
		Use:   "init",
		Short: "declare a data set and its total budget",
		Long: `Init declares the privacy budget of a data set: the most that all trainings on
it may cost together. It creates the ledger if it does not exist. A data set
cannot be declared twice and its total cannot be changed, because a larger total
would break the promise made to the people in the table.

If a public column divides the rows into disjoint parts, pass the schema that
declares it (parts: COLUMN) as --parts. A training with --part is then charged
to its part. Only the most expensive part counts, because no row is in two
parts.`,
		Example: `  discreet budget init --ledger l.db --dataset patients --epsilon 1.0
  discreet budget init --ledger postgres://owner@db/ledger --dataset patients --epsilon 1.0 --delta 1e-6
  discreet budget init --ledger l.db --dataset clinics --epsilon 1.0 --parts clinics.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.declareDataset(c.Context()) },
	}
	b.ledger.addFlag(c)
	c.Flags().StringVar(&b.dataset, "dataset", "", "the `name` of the data set")
	c.Flags().StringVar(&b.epsilon, "epsilon", "", "the total `ε`")
	c.Flags().StringVar(&b.delta, "delta", "0", "the total `δ`; 0 allows pure mechanisms only")
	c.Flags().StringVar(&b.unit, "unit", "",
		"the unit of privacy that schemas must declare (default that of the first training)")
	c.Flags().StringVar(&b.why, "note", "", "the owner's `note`: who decided on the total, and why")
	c.Flags().StringVar(&b.parts, "parts", "",
		"a schema `file` whose parts: trainings may be charged to; without it all trainings add up")
	cli.Reads(c, "parts")
	cli.Require(c, "ledger", "dataset", "epsilon")
	return c
}

func (b *budgetInit) declareDataset(ctx context.Context) error {
	eps, err := dp.ParseEpsilon(b.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	delta, err := dp.ParseDelta(b.delta)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	var parts *ledger.Parts
	if b.parts != "" {
		if parts, err = declaredParts(b.parts); err != nil {
			return err
		}
	}
	l, err := b.ledger.open(ctx, ledger.Create)
	if err != nil {
		return err
	}
	err = l.Declare(ctx,
		ledger.Dataset{Name: b.dataset, Epsilon: eps, Delta: delta, Unit: b.unit, Note: b.why, Parts: parts})
	if err = errors.Join(err, l.Close()); err != nil {
		return asRefusal(err)
	}
	in := "in total"
	if parts != nil {
		in = fmt.Sprintf("for each row; %d parts by %s", len(parts.Names), parts.By)
	}
	_, err = fmt.Fprintf(b.Stdout, "declared %s: epsilon = %s, delta = %s %s\n", b.dataset, eps, delta, in)
	return err
}

// declaredParts reads the parts of a schema file, which must declare some.
func declaredParts(path string) (*ledger.Parts, error) {
	s, err := schema.Load(path)
	if err != nil {
		return nil, err
	}
	p, err := train.PartsOf(s)
	if p == nil && err == nil {
		err = &cli.UsageError{Err: &dp.ParamError{Op: "init", Param: "parts", Want: "must be a schema that declares parts",
			Got: path, Hint: "write parts: and the public column whose levels part the rows"}}
	}
	return p, err
}
