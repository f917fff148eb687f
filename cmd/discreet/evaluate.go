// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/heldout"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

// evaluate holds the flags of the command.
type evaluate struct {
	*app
	model string
	data  []string
	json  bool

	threshold, out string
	private        privateEvaluation
}

func (a *app) newEvaluateCommand() *cobra.Command {
	e := &evaluate{app: a}
	c := &cobra.Command{
		Use:   "evaluate",
		Short: "measure a model on labelled rows",
		Long: `Evaluate compares a model's predictions with the labels of rows that were held
out of training.

Without --epsilon the output is exact and so NOT PRIVATE: show it only to people
who may see those rows. Accuracy is shown next to the majority-class baseline.
For two classes it also prints precision, recall, the areas under the ROC and
the precision-recall curve, and the lift of the tenth with the highest scores.
--threshold works as in predict, and cells that are not as the model's schema
declares are counted as there. --out draws a page of numbers and charts.

With --epsilon the output is private, and no cells are counted. One noisy histogram of scores by label is
released. Every number is computed from it, with an interval that covers the
noise and the sampling of the rows. --by measures each group of rows from the
same histogram, and --threshold rate=SHARE and --costs choose a threshold from
it. The page of --out then has the order of the TRIPOD+AI statement. --ledger charges the price first, as in
train. Training rows and held-out rows are two data sets in the ledger if split
divided them, or two parts of one.`,
		Example: `  discreet evaluate --model m.json --data held-out.csv
  discreet evaluate --model m.json --data adult.test.gz --json
  discreet evaluate --model m.json --data held-out.csv --threshold costs=1:5 --out evaluation.html
  discreet evaluate --model m.json --data held-out.csv --epsilon 0.5 --costs 1:5 --ledger l.db --dataset held-out \
    --out evaluation.html
  discreet evaluate --model m.json --data held-out.csv --epsilon 0.5 --by sex --out evaluation.html
  discreet evaluate --model m.json --compare n.json --data held-out.csv --epsilon 0.5`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if e.private.epsilon != "" {
				return e.runPrivately(c)
			}
			if err := e.private.refuseWithoutPrice(c); err != nil {
				return err
			}
			return e.runEvaluate(c.Context())
		},
	}
	c.Flags().StringVar(&e.model, "model", "", "the model `file`")
	c.Flags().StringArrayVar(&e.data, "data", nil,
		commands.TableWords+"; - is standard input; may be repeated")
	c.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	c.Flags().StringVar(&e.threshold, "threshold", "",
		"the lowest `score` of the positive class: a number, rate=SHARE or costs=FP:FN (default the model's own, usually 0.5)")
	c.Flags().StringVar(&e.out, "out", "", "an HTML `file` to draw to; replaced if it is there")
	e.private.addFlags(c)
	cli.Reads(c, "model", "data", "compare", "schema", "key")
	cli.Writes(c, "out")
	cli.Require(c, "model", "data")
	return c
}

func (e *evaluate) runEvaluate(ctx context.Context) error {
	if err := cli.CheckPage("evaluate", e.out); err != nil {
		return err
	}
	threshold, err := predict.ParseThreshold(e.threshold)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	m, err := model.Load(e.model)
	if err != nil {
		return err
	}
	done := e.ShowBusy("reading")
	t, err := dataset.Read(ctx, m.Schema, dataset.Options{Stdin: e.Stdin, Count: true}, e.data...)
	done()
	if err != nil {
		return err
	}
	var from func([]float64) float64
	if threshold.Given() {
		from = func(scores []float64) float64 { return threshold.At(m, scores) }
	}
	r, err := heldout.Evaluate(m, t, from)
	if err != nil {
		return commands.AsRefusal(err)
	}
	causes, err := dataset.DescribeCauses(ctx, m.Schema, dataset.Options{}, r.Undeclared, r.Rows, e.data...)
	if err != nil {
		return err
	}
	for _, line := range causes {
		e.Say("%s", line)
	}
	return e.writeReport(r)
}

// writeReport writes a report to --out, and prints it.
func (e *evaluate) writeReport(r interface {
	WriteHTML(io.Writer) error
	WriteText(io.Writer) error
}) error {
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
