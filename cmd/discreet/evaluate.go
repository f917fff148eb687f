// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
)

// evaluate is the flags of the command.
type evaluate struct {
	*app
	model string
	data  []string
	json  bool
}

// score is what evaluate prints for programs.
type score struct {
	Private bool `json:"private"` // false: the numbers are exact
	*metrics.Report
}

func (a *app) newEvaluateCommand() *cobra.Command {
	e := &evaluate{app: a}
	c := &cobra.Command{
		Use:   "evaluate",
		Short: "score a model on labelled rows (not private)",
		Long: `Evaluate compares what a model predicts with the labels of a table, read with
the model's own schema.

Its numbers are exact, and so NOT PRIVATE: they tell about the rows they were
computed on. Use rows that were held out of training, and show the numbers only
to people who may see those rows.`,
		Example: `  discreet evaluate --model m.json --data held-out.csv
  discreet evaluate --model m.json --data adult.test.gz --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.runEvaluate(c.Context()) },
	}
	c.Flags().StringVar(&e.model, "model", "", "the model `file`")
	c.Flags().StringArrayVar(&e.data, "data", nil,
		"a `file` of the table, CSV (also gzip) or Parquet; - is standard input; may be repeated")
	c.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	cli.Require(c, "model", "data")
	return c
}

func (e *evaluate) runEvaluate(ctx context.Context) error {
	m, err := model.Load(e.model)
	if err != nil {
		return err
	}
	t, err := e.readTable(ctx, m.Schema, e.data)
	if err != nil {
		return err
	}
	scores, err := m.Scores(t.Cols, t.Rows)
	if err != nil {
		return err
	}
	r, err := metrics.Evaluate(t.Labels, scores, classesOf(m.Schema), m.Schema.Label.Positive)
	if err != nil {
		return err
	}
	if e.json {
		return cli.WriteJSON(e.Stdout, score{false, r})
	}
	return r.WriteText(e.Stdout, m.Schema.Label.Name)
}
