// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// train is the flags of the command.
type train struct {
	*app
	choice *choice
	data   []string
	schema string
	model  string
	part   string
	exceed bool
	charging
}

func (a *app) train() *cobra.Command {
	t := &train{app: a}
	c := &cobra.Command{
		Use:   "train",
		Short: "train a model and state what it cost",
		Long: `Train reads a table, trains a model on it and writes the model file, which holds
what prediction needs and the statement of what is protected and what is not.
The statement is also printed.

Everything that can be refused is refused before the table is opened. A private
learner needs --epsilon, which has no default; a learner without privacy refuses
a schema with private columns unless --not-private is given, and the model then
says so. Noise is fresh in every run and cannot be reproduced. An interrupted
training writes no model.

Flags that are not for every learner name theirs in brackets, with the value
they have when they are not given.

With --part only rows of one level of the column that the schema's parts: names
are read; what trainings on different parts cost does not add up.

With --ledger and --dataset the price is charged to the data set before anything
is read, and refused where it exceeds what is left. The model's bytes are kept in
the ledger: the same --job returns the same model and costs nothing. Without a
ledger nothing is counted: models trained on the same table add up, and each
says that it was not counted.`,
		Example: `  discreet train --data adult.data.gz --schema adult.yaml --learner brc --epsilon 0.16 --model m.json
  discreet train --data 2023.parquet --data 2024.parquet --schema s.yaml --learner brc --epsilon 1 \
    --rounds 50 --encoding ordinal --intercept selected --model m.json
  discreet train --data adult.data.gz --schema adult.yaml --learner brc --epsilon 0.16 --model m.json \
    --ledger l.db --dataset adult --job monday
  discreet train --data clinics.csv --schema clinics.yaml --epsilon 1 --part north --model north.json --ledger l.db --dataset clinics
  discreet train --data adult.data.gz --schema adult.yaml --learner logistic --columns public --model public.json
  discreet train --data adult.data.gz --schema adult.yaml --learner brc --epsilon inf --not-private --model twin.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.run(c) },
	}
	t.add(c)
	t.choice = addChoice(c)
	return c
}

// add adds the flags that say from what, to where and on whose account.
func (t *train) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&t.data, "data", nil, "a `file` of the table, CSV (also gzip) or Parquet; - is standard input; may be repeated")
	c.Flags().StringVar(&t.schema, "schema", "", "the schema `file` of the table")
	c.Flags().StringVar(&t.model, "model", "", "the `file` to write the model to; replaced if it is there")
	c.Flags().BoolVar(&t.exceed, "exceed-max-epsilon", false, "spend more than the schema's max_epsilon; the model records it")
	c.Flags().StringVar(&t.part, "part", "", "train on one part of the rows: the `level` of the column that the schema's parts: names")
	t.charging.add(c, "the `name` of the data set in the ledger",
		"the training's own `ID` in the ledger: with the same ID the same model is returned, never drawn again (default a random one)")
	cli.Require(c, "data", "schema", "model")
}

func (t *train) run(c *cobra.Command) error {
	req, err := t.choice.request("train")
	if err != nil {
		return err
	}
	return t.perform(c, req)
}

// perform trains what req asks for, whichever command asked.
func (t *train) perform(c *cobra.Command, req *request) error {
	if err := t.checkCounting(c, req); err != nil {
		return err
	}
	s, err := schema.Load(t.schema)
	if err != nil {
		return err
	}
	if err := checkPart(c.Name(), t.part, s); err != nil {
		return err
	}
	pl, err := req.plan(s, 0)
	if err != nil {
		return err
	}
	excess := req.price.excess(s)
	if excess != "" && !t.exceed {
		return &cli.BudgetError{Err: fmt.Errorf("%s: %s; only --exceed-max-epsilon, which the model records, goes beyond it", c.Name(), excess)}
	}
	if err := cli.CheckWritable(t.model); err != nil { // a lost model has spent its epsilon too
		return fmt.Errorf("%s: model %w", c.Name(), err)
	}
	m, err := t.produce(c.Context(), req, s, pl, excess)
	if err != nil {
		return err
	}
	t.Say("wrote %s", t.model)
	_, err = io.WriteString(t.Stdout, m.Privacy.Card())
	return err
}

// produce trains the model, or fetches it from the ledger, and writes its file.
func (t *train) produce(ctx context.Context, req *request, s *schema.Schema, pl learn.Plan, excess string) (m *model.Model, err error) {
	if t.ledger.address == "" {
		if m, err = t.fit(ctx, req, s, pl, excess, learn.Uncounted{}); err != nil {
			return nil, err
		}
		return m, m.Save(t.model)
	}
	err = t.ledger.with(ctx, func(l *ledger.Ledger) error {
		j, err := t.open(ctx, l, req, s)
		switch {
		case err != nil:
			return err
		case j.Stored() != nil:
			m, err = t.again(ctx, j)
			return err
		}
		if err := j.Afford(ctx, req.cost(pl), pl.Events()); err != nil {
			return err
		}
		if m, err = t.fit(ctx, req, s, pl, excess, j); err != nil {
			return errors.Join(err, j.Abandon(ctx, "the training failed"))
		}
		return keep(ctx, j, m, t.model)
	})
	return m, err
}

// fit reads the table and trains on it; acct is charged in between.
func (t *train) fit(ctx context.Context, req *request, s *schema.Schema, pl learn.Plan, excess string, acct learn.Account) (*model.Model, error) {
	tab, err := t.table(ctx, s, t.data)
	if err != nil {
		return nil, err
	}
	if t.part != "" {
		tab = rowsOf(tab, t.part)
	}
	rows, err := memory.New(tab)
	if err != nil {
		return nil, err
	}
	if s.Relation == dp.ReplaceOne { // elsewhere the number of rows is private
		t.Say("training on %d rows of %q", tab.Rows, s.Name)
		if pl, err = req.plan(s, tab.Rows); err != nil {
			return nil, err
		}
	}
	for _, f := range pl.Facts() {
		if f.Text != "" {
			t.Say("  %s", f.Text)
		}
	}
	if req.price.epsilon > 0 && !acct.Counted() {
		t.Say("no ledger: nothing is being counted, and the model says so")
	}
	m, err := pl.Fit(ctx, rows, acct, mech.NewExit(rng.System()))
	if err != nil {
		return nil, err
	}
	if t.part != "" {
		m.Privacy.Unprotected = append(m.Privacy.Unprotected, fmt.Sprintf("which rows the training read: those of part %q of the public column %q", t.part, s.Parts))
	}
	if excess != "" {
		m.Privacy.Overrides = append(m.Privacy.Overrides, excess)
	}
	return m, nil
}
