// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/heldout"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/predict"
)

// evaluate is the flags of the command.
type evaluate struct {
	*app
	model string
	data  []string
	json  bool

	threshold, out string
}

func (a *app) newEvaluateCommand() *cobra.Command {
	e := &evaluate{app: a}
	c := &cobra.Command{
		Use:   "evaluate",
		Short: "score a model on labelled rows (not private)",
		Long: `Evaluate compares what a model predicts with the labels of a table, read with
the model's own schema.

Beside the accuracy stands that of always predicting the largest class. Of a label
with two classes it says precision, recall, the area under the curve of both, how
many times as many positive rows the tenth with the highest scores has (lift), and
how many rows are positive, predicted so, and expected by the scores. --threshold
is that of predict. With --out a page draws calibration, precision and recall, and
what is found among the highest scores.

Its numbers are exact, and so NOT PRIVATE: they tell about the rows they were
computed on. Use rows that were held out of training, and show the numbers only
to people who may see those rows.`,
		Example: `  discreet evaluate --model m.json --data held-out.csv
  discreet evaluate --model m.json --data adult.test.gz --json
  discreet evaluate --model m.json --data held-out.csv --threshold costs=1:5 --out evaluation.html`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.runEvaluate(c.Context()) },
	}
	c.Flags().StringVar(&e.model, "model", "", "the model `file`")
	c.Flags().StringArrayVar(&e.data, "data", nil,
		commands.TableWords+"; - is standard input; may be repeated")
	c.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	c.Flags().StringVar(&e.threshold, "threshold", "",
		"predict the positive class from this on: a `score`, rate=SHARE or costs=FP:FN (default 0.5)")
	c.Flags().StringVar(&e.out, "out", "", "an HTML `file` to draw to; replaced if it is there")
	cli.Reads(c, "model", "data")
	cli.Writes(c, "out")
	cli.Require(c, "model", "data")
	return c
}

func (e *evaluate) runEvaluate(ctx context.Context) error {
	threshold, err := predict.ParseThreshold(e.threshold)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	m, err := model.Load(e.model)
	if err != nil {
		return err
	}
	t, err := e.ReadTable(ctx, m.Schema, e.data)
	if err != nil {
		return err
	}
	var from func([]float64) float64
	if threshold.Given() {
		from = threshold.At
	}
	r, err := heldout.Evaluate(m, t, from)
	if err != nil {
		return commands.AsRefusal(err)
	}
	if e.out != "" {
		if err := e.WriteFile(e.out, r.WriteHTML); err != nil {
			return err
		}
		e.Say("wrote %s", e.out)
	}
	if e.json {
		return cli.WriteJSON(e.Stdout, r)
	}
	return r.WriteText(e.Stdout)
}
