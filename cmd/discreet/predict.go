// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/spark/cluster"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

// predictFlags holds the flags of the command.
type predictFlags struct {
	*app
	model    string
	data     []string
	out      string
	explain  bool
	interval bool
	json     bool
	class    string
	signed   signedFlag

	place cluster.Place

	threshold, extra string
}

func (a *app) newPredictCommand() *cobra.Command {
	p := &predictFlags{app: a}
	c := &cobra.Command{
		Use:   "predict",
		Short: "add predicted labels and scores to a table",
		Long: `Predict reads a table with the model's own schema and writes it again with two
more columns: label, the predicted class, and score, a number from 0 to 1 that
is larger if the positive class is more likely. A label of more than two classes
has one score for each class, score_CLASS; they add up to 1. If the table has
columns of these names, the new ones are called label_2 and score_2.

With --explain an additive model also writes what each column adds to the
log-odds of the positive class, in nats. For example, column age adds
age_log_odds. Together with the model's intercept, which explain --json prints,
these add up to log(score/(1-score)). If the label has more than two classes,
age_log_share is what column age adds for one class, minus the mean over all
classes. The class is the predicted one, or the one that --class names. With the
centred intercept these add up to log(score) of that class minus the mean
log(score) of all.

With --interval an additive model also writes how far noise moved each score.
The interval from score_low to score_high is meant to contain the mean score of
fits to the same rows in 95 % of cases. It treats the model's stated deviations
as independent. It does not cover the effect of noise that all fits share, which
rows happened to be in the table, or what a sum over columns cannot express.
There is no interval for labels of more than two classes.

With --threshold the positive class of a two-class label is predicted from a
different score than the model's: from a number, for at most a share of the rows
(rate=0.1), or from the score with the lowest expected cost (costs=1:5, a false
positive and a false negative). At the end predict prints how many rows are
predicted positive, and how many are expected to be positive according to the
scores. Where cells are not as the model's schema declares, such as text in a
column of numbers, predict says how many there are of each column and what they
were read as. These counts are exact: they are as private as the rows.

The table's own label may be missing; it is not read. Columns that are not in
the model are refused. With --extra drop they are left out, and with --extra
keep they are passed on, unread. Cells are passed on as they are, from Parquet
to Parquet with their types, so a cell that was private in the table is private
in the output. With --engine spark a cluster scores the rows in place
(docs/scale.md), and --out is a folder of Parquet files that must not exist.`,
		Example: `  discreet predict --model m.json --data new.csv --out predicted.csv
  discreet predict --model m.json --data new.parquet --out predicted.parquet
  discreet predict --model m.json --data new.csv --out reasons.csv --explain
  discreet predict --model kinds.json --data new.csv --out why.csv --explain --class probe
  discreet predict --model m.json --data new.csv --out sure.csv --interval
  discreet predict --model m.json --data new.csv --out - | head
  zcat new.csv.gz | discreet predict --model m.json --data - --out - --threshold rate=0.1 > first.csv`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.runPredict(c.Context()) },
	}
	c.Flags().StringVar(&p.model, "model", "", "the model `file`, or a release of it")
	p.signed.addFlag(c)
	c.Flags().StringArrayVar(&p.data, "data", nil,
		commands.CopiedWords+"; - is standard input; may be repeated")
	c.Flags().StringVar(&p.out, "out", "",
		"the `file` to write, CSV or (.parquet) Parquet; - is standard output, CSV; replaced if it is there and is not read")
	c.Flags().StringVar(&p.threshold, "threshold", "",
		"the lowest `score` of the positive class: a number, rate=SHARE or costs=FP:FN (default the model's own, usually 0.5)")
	c.Flags().StringVar(&p.extra, "extra", "refuse",
		"`what` to do with columns that are not in the model: refuse, drop or keep")
	c.Flags().BoolVar(&p.explain, "explain", false, "also write what each column adds to the log-odds (additive models)")
	c.Flags().StringVar(&p.class, "class", "",
		"with --explain, the `class` to explain, of a label of more than two (default the predicted one)")
	c.Flags().BoolVar(&p.interval, "interval", false, "also write a 95 % interval for the effect of noise on the score (additive models)")
	c.Flags().BoolVar(&p.json, "json", false, "also print the numbers at the end as one JSON object")
	c.Flags().StringVar(&p.place.Engine, "engine", cluster.EngineMemory,
		"the `engine` that scores rows: memory, of this machine, or spark (docs/scale.md)")
	p.AddClusterFlags(c, &p.place.Master, &p.place.Submit)
	cli.Reads(c, "model", "data")
	cli.Writes(c, "out")
	cli.Require(c, "model", "data", "out")
	commands.CompleteFlag(c, "extra", "refuse", "drop", "keep")
	return c
}

func (p *predictFlags) runPredict(ctx context.Context) error {
	extra, badExtra := dataset.ParseExtra(p.extra)
	threshold, badThreshold := predict.ParseThreshold(p.threshold)
	asked := predict.Params{Explain: p.explain, Class: p.class, Interval: p.interval, Threshold: threshold}
	if err := cmp.Or(badExtra, badThreshold, p.place.Check(asked, p.out),
		dataset.CheckOutput("predict", "out", p.out)); err != nil {
		return &cli.UsageError{Err: err}
	}
	if p.json && p.out == "-" {
		return cli.Refuse("predict", "json", "must not be given if out is standard output", nil)
	}
	trusted, err := p.signed.trusted("predict")
	if err != nil {
		return err
	}
	m, err := trusted.LoadModel(p.model)
	if err != nil {
		return err
	}
	if err := asked.Check(m); err != nil {
		return &cli.UsageError{Err: err}
	}
	src := &predict.Source{Paths: p.data, Options: dataset.Options{Labels: dataset.LabelsIgnored, Extra: extra},
		Begin: p.ShowBusy}
	if slices.Contains(p.data, "-") { // it is read more than once
		held, err := io.ReadAll(p.Stdin)
		if err != nil {
			return err
		}
		src.Rewind = func() io.Reader { return bytes.NewReader(held) }
	}
	var tally *predict.Tally
	if p.place.Engine == cluster.EngineSpark {
		tally, err = p.place.Write(ctx, asked, m, src, p.out, p.ShowBusy)
	} else {
		err = p.writeOutput(func(w io.Writer) (err error) {
			tally, err = asked.Write(ctx, m, src, w, dataset.FormatOf(p.out))
			return err
		})
	}
	if err != nil {
		return commands.AsRefusal(err)
	}
	lines := tally.Lines()
	if p.place.Engine != cluster.EngineSpark {
		causes, err := tally.Causes(ctx, src)
		if err != nil {
			return err
		}
		lines = append(lines, causes...)
	}
	for _, line := range lines {
		p.Say("%s", line)
	}
	if p.json {
		return cli.WriteJSON(p.Stdout, tally)
	}
	return nil
}

// writeOutput lets f write the output. A file gets its name only once it is complete.
func (p *predictFlags) writeOutput(f func(io.Writer) error) error {
	if p.out == "-" {
		w := bufio.NewWriter(p.Data())
		if err := f(w); err != nil {
			return err
		}
		return w.Flush()
	}
	return p.WriteFile(p.out, f)
}
