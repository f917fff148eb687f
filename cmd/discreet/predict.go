// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/predict"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// predictFlags is the flags of the command.
type predictFlags struct {
	*app
	model    string
	data     []string
	out      string
	explain  bool
	interval bool
	level    string
}

func (a *app) newPredictCommand() *cobra.Command {
	p := &predictFlags{app: a}
	c := &cobra.Command{
		Use:   "predict",
		Short: "add predicted labels and scores to a table",
		Long: `Predict reads a table with the model's own schema and writes it out again with
two more columns: label, the predicted level, and score, a number from 0 to 1
that grows with the positive level. A label of more than two levels has one
score per level, score_LEVEL, which add up to 1. Where the table has columns of
these names, the new ones are called label_2 and score_2.

With --explain an additive model also says what each column adds to the log-odds
of the positive level, in nats: column age in age_log_odds, and so on. Together
with the model's intercept, which explain --json prints, these add up to
log(score/(1-score)). Of a label of more than two levels it is what each column
adds for the predicted level, or for the one that --level names, beyond the mean
of all levels: column age in age_log_share. Together with the centred intercept
these add up to log(score) of that level minus the mean log(score) of all.

With --interval an additive model also says how far noise may have moved each
score: score_low and score_high hold, with 95 %, the score that the same columns
would have without noise and with rows without number. The deviations that the
model states are added up as if columns were independent; public columns and the
intercept have none stated, and what a sum over columns cannot say is not in it.
Labels of more than two levels have none.

The table's own label need not be there and is not read. Cells are passed on as
they are: what was private in the table is private in the output.`,
		Example: `  discreet predict --model m.json --data new.csv --out predicted.csv
  discreet predict --model m.json --data new.parquet --out predicted.parquet
  discreet predict --model m.json --data new.csv --out reasons.csv --explain
  discreet predict --model kinds.json --data new.csv --out why.csv --explain --level probe
  discreet predict --model m.json --data new.csv --out sure.csv --interval
  discreet predict --model m.json --data new.csv --out - | head`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.runPredict(c.Context()) },
	}
	c.Flags().StringVar(&p.model, "model", "", "the model `file`")
	c.Flags().StringArrayVar(&p.data, "data", nil, "a `file` of the table, CSV (also gzip) or Parquet; may be repeated")
	c.Flags().StringVar(&p.out, "out", "", "the `file` to write, CSV or (.parquet) Parquet; - is standard output, CSV; replaced if it is there")
	c.Flags().BoolVar(&p.explain, "explain", false, "add what each column adds to the log-odds (additive models)")
	c.Flags().StringVar(&p.level, "level", "", "with --explain, the `level` of the label to explain, of more than two (default the predicted one)")
	c.Flags().BoolVar(&p.interval, "interval", false, "add a 95 % interval of the score for the noise (additive models)")
	cli.Require(c, "model", "data", "out")
	return c
}

func (p *predictFlags) runPredict(ctx context.Context) error {
	if strings.HasSuffix(p.out, ".gz") {
		return &cli.UsageError{Err: &dp.ParamError{Op: "predict", Param: "out", Want: "must not end in .gz, since nothing is compressed", Got: p.out, Hint: "write to - and pipe the output through gzip"}}
	}
	m, err := model.Load(p.model)
	if err != nil {
		return err
	}
	asked := predict.Params{Explain: p.explain, Class: p.level, Interval: p.interval}
	if err := asked.Check(m); err != nil {
		return &cli.UsageError{Err: err}
	}
	report, done := p.ShowBytes("reading")
	opts := dataset.Options{Labels: dataset.LabelsIgnored, Progress: report}
	t, err := dataset.Read(ctx, m.Schema, opts, p.data...)
	done()
	if err != nil {
		return err
	}
	added, err := asked.Columns(m, t)
	if err != nil {
		return err
	}
	report, done = p.ShowBytes("writing")
	opts.Progress = report
	defer done()
	return p.writeOutput(func(w io.Writer) error {
		return dataset.AppendColumns(ctx, m.Schema, opts, w, dataset.FormatOf(p.out), added, p.data...)
	})
}

// writeOutput lets f write the output. A file takes its name only when it is whole,
// so one of the data files may be replaced.
func (p *predictFlags) writeOutput(f func(io.Writer) error) error {
	if p.out == "-" {
		w := bufio.NewWriter(p.Stdout)
		if err := f(w); err != nil {
			return err
		}
		return w.Flush()
	}
	return cli.WriteFile(p.out, f)
}
