// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// demo is the flags of the command.
type demo struct {
	*app
	rows int
	seed uint64
	out  string
	save string
}

const (
	demoRows    = 20_000
	minDemoRows = 100
	maxDemoRows = 20_000_000
)

func (a *app) demo() *cobra.Command {
	d := &demo{app: a}
	c := &cobra.Command{
		Use:   "demo",
		Short: "train and compare models on an invented census",
		Long: `Demo invents a census-like table, parts off one half for testing, and trains on
the other: without the private columns, with them but without privacy, and with
them under differential privacy at several ε. It prints and draws what each
model is worth.

The people are invented and the same for the same --seed. The noise is fresh in
every run, as it is everywhere but in experiments.`,
		Example: `  discreet demo
  discreet demo --rows 200000 --out comparison.svg
  discreet demo --save sample   # keeps the table, to try the other commands on`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return d.run(c.Context()) },
	}
	c.Flags().IntVar(&d.rows, "rows", demoRows, "how many people to invent, half of them for testing")
	c.Flags().Uint64Var(&d.seed, "seed", 1, "which people to invent; says nothing about noise")
	c.Flags().StringVar(&d.out, "out", "", "also draw the comparison to this SVG `file`")
	c.Flags().StringVar(&d.save, "save", "", "also write census.yaml, train.csv and held-out.csv to this `folder`")
	return c
}

func (d *demo) run(ctx context.Context) error {
	if d.rows < minDemoRows || d.rows > maxDemoRows {
		return &cli.UsageError{Err: &dp.ParamError{Op: "demo", Param: "rows", Want: fmt.Sprintf("must be from %d to %d", minDemoRows, maxDemoRows), Got: d.rows}}
	}
	d.Say("inventing %d people (seed %d)", d.rows, d.seed)
	train, test := halves(census.Generate(d.seed, d.rows))
	if d.save != "" {
		if err := d.saveTables(train, test); err != nil {
			return err
		}
	}
	report, done := d.ShowRuns("training")
	found, err := compare(ctx, train, test, report)
	done()
	if err != nil {
		return err
	}
	if err := found.print(d.Stdout, d.Columns(), d.Glyphs()); err != nil {
		return err
	}
	if d.out == "" {
		return nil
	}
	if err := cli.WritePublicFile(d.out, found.chart().WriteSVG); err != nil {
		return err
	}
	d.Say("wrote %s", d.out)
	return nil
}

// halves parts a table of independent rows.
func halves(t *dataset.Table) (first, second *dataset.Table) {
	rows := make([]int, t.Rows)
	for i := range rows {
		rows[i] = i
	}
	return t.Subset(rows[:t.Rows/2]), t.Subset(rows[t.Rows/2:])
}

func (d *demo) saveTables(train, test *dataset.Table) error {
	if err := os.MkdirAll(d.save, 0o777); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"census.yaml", func(w io.Writer) error { _, err := w.Write(census.SchemaYAML()); return err }},
		{"train.csv", func(w io.Writer) error { return census.WriteCSV(w, train) }},
		{"held-out.csv", func(w io.Writer) error { return census.WriteCSV(w, test) }},
	} {
		path := filepath.Join(d.save, file.name)
		if err := cli.WritePublicFile(path, file.write); err != nil {
			return err
		}
		d.Say("wrote %s", path)
	}
	return nil
}
