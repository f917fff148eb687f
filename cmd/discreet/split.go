// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/heldout"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// splitFlags holds the flags of the command.
type splitFlags struct {
	*app
	heldout.Split
	data                []string
	schema, train, test string
}

func (a *app) newSplitCommand() *cobra.Command {
	f := &splitFlags{app: a}
	c := &cobra.Command{
		Use:   "split",
		Short: "split a table into training rows and test rows",
		Long: `Split writes each row of a table to one of two files, unchanged, quotes
included. The split is stratified by label and random. The same --split-seed
divides the same table in the same way. The seed hides nothing, and both files
are as confidential as the table.`,
		Example: `  discreet split --data patients.csv --schema patients.yaml --train train.csv --test test.csv
  discreet split --data t.parquet --schema t.yaml --train a.parquet --test b.parquet --held-out 0.5 --split-seed 7`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.splitTable(c) },
	}
	c.Flags().StringArrayVar(&f.data, "data", nil, commands.TableWords+"; may be repeated")
	c.Flags().StringVar(&f.schema, "schema", "", "the schema `file` of the table")
	c.Flags().StringVar(&f.train, "train", "", "the `file` to write rows for training to, CSV or (.parquet) Parquet")
	c.Flags().StringVar(&f.test, "test", "", "the `file` to write held-out rows to, likewise")
	c.Flags().Float64Var(&f.HeldOut, "held-out", 0.25, "the `share` of each class's rows that is held out")
	c.Flags().Uint64Var(&f.Seed, "split-seed", 1, "a `number` that determines the side of each row; it hides nothing")
	cli.Reads(c, "data", "schema")
	cli.Writes(c, "train", "test")
	cli.Require(c, "data", "schema", "train", "test")
	return c
}

func (f *splitFlags) splitTable(c *cobra.Command) error {
	if err := cmp.Or(f.Check(), dataset.CheckOutput("split", "train", f.train),
		dataset.CheckOutput("split", "test", f.test)); err != nil {
		return &cli.UsageError{Err: err}
	}
	s, _, err := commands.LoadSchema(f.schema)
	if err != nil {
		return err
	}
	var counts [2]int
	formats := [2]dataset.Format{dataset.FormatOf(f.train), dataset.FormatOf(f.test)}
	err = f.WriteFile(f.train, func(train io.Writer) error {
		return f.WriteFile(f.test, func(test io.Writer) (err error) {
			counts, err = f.Write(c.Context(), s, dataset.Options{}, train, test, formats, f.data...)
			return err
		})
	})
	if err == nil {
		f.Say("wrote %d rows to %s and %d to %s", counts[0], f.train, counts[1], f.test)
	}
	return err
}
