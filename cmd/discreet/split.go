// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/heldout"
)

// splitFlags holds the flags of the command.
type splitFlags struct {
	*app
	heldout.Split
	data                []string
	schema, train, test string
	ledger              commands.LedgerFlag
	sides               []string
}

func (a *app) newSplitCommand() *cobra.Command {
	f := &splitFlags{app: a}
	c := &cobra.Command{
		Use:   "split",
		Short: "split a table into training rows and test rows",
		Long: `Split writes each row of a table to one of two files. They may be two data sets of
a ledger, each with its own total.

With persons or add-remove, secret coins decide, and split needs two new data
sets of a ledger. A table of persons that grew may be split again: everyone keeps
their side. Rows without persons are split once. Otherwise the seed decides; it
hides nothing. What is spent on two splits of the same rows, by other data sets
or seeds, adds up.

Rows of Parquet keep the types and values of all columns in Parquet, and rows of
CSV their text in CSV. In Parquet that is made of CSV, the schema's numbers are
doubles and all else is text. Both files are as confidential as the table.`,
		Example: `  discreet split --data patients.csv --schema patients.yaml --train train.csv --test test.csv \
    --ledger l.db --sides patients,patients-test
  discreet split --data t.parquet --schema t.yaml --train a.parquet --test b.parquet --held-out 0.5 --split-seed 7`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.splitTable(c) },
	}
	c.Flags().StringArrayVar(&f.data, "data", nil, commands.CopiedWords+"; may be repeated")
	c.Flags().StringVar(&f.schema, "schema", "", "the schema `file` of the table")
	c.Flags().StringVar(&f.train, "train", "", "the `file` to write rows for training to, CSV or (.parquet) Parquet")
	c.Flags().StringVar(&f.test, "test", "", "the `file` to write held-out rows to")
	c.Flags().Float64Var(&f.HeldOut, "held-out", 0.25, "the held-out `share` of rows or persons")
	c.Flags().Uint64Var(&f.Seed, seedFlag, 1, "a `number`: which rows are held out, under replace-one without persons")
	f.ledger.AddFlag(c)
	c.Flags().StringSliceVar(&f.sides, "sides", nil, "the `names` of the two data sets in the ledger: training rows, "+
		"test rows")
	cli.AddSection(c, commands.Counting, "ledger", "sides", "anchors")
	cli.Reads(c, "data", "schema")
	cli.Writes(c, "train", "test")
	cli.Require(c, "data", "schema", "train", "test")
	return c
}

const seedFlag = "split-seed"

func (f *splitFlags) splitTable(c *cobra.Command) error {
	if err := cmp.Or(f.Check(), dataset.CheckOutput("split", "train", f.train),
		dataset.CheckOutput("split", "test", f.test)); err != nil {
		return &cli.UsageError{Err: err}
	}
	s, _, err := commands.LoadSchema(f.schema)
	if err != nil {
		return err
	}
	if err := f.checkDealing(c, s); err != nil {
		return err
	}
	if heldout.ByCoin(s) {
		err = f.ledger.UseLedger(c.Context(), func(l *ledger.Ledger) error { return f.dealByCoin(c.Context(), s, l) })
	} else {
		err = f.writeSides(c.Context(), s, func() error { return nil })
	}
	if err == nil {
		f.Say("wrote %s and %s", f.train, f.test)
	}
	return commands.AsRefusal(err)
}

// checkDealing refuses flags that do not fit the way in which the units of the schema are dealt.
func (f *splitFlags) checkDealing(c *cobra.Command, s *schema.Schema) error {
	refuse := func(param, want string, got any, hint string) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: "split", Param: param, Want: want, Got: got, Hint: hint}}
	}
	given := f.ledger.Address != "" || f.sides != nil
	switch {
	case heldout.ByCoin(s) && c.Flags().Changed(seedFlag):
		return refuse(seedFlag, "must not be given: the schema declares persons or add-remove, whose sides are secret", f.Seed, "")
	case heldout.ByCoin(s) && f.ledger.Address == "":
		return refuse("ledger", "must be given: the schema declares persons or add-remove, whose sides a ledger keeps", nil,
			"declare two data sets (discreet budget init), and name them: --ledger FILE --sides TRAINING,TEST")
	case heldout.ByCoin(s) && len(f.sides) != 2:
		return refuse("sides", "must be two names: of the training rows' data set, and of the test rows'", f.sides, "")
	case !heldout.ByCoin(s) && given:
		return refuse("ledger", "must not be given: places are dealt by the seed, and a ledger keeps nothing of it", nil, "")
	}
	return nil
}

func (f *splitFlags) dealByCoin(ctx context.Context, s *schema.Schema, l *ledger.Ledger) error {
	sides := ledger.Sides{Train: f.sides[0], HeldOut: f.sides[1], Share: f.HeldOut, Spelling: heldout.Spelling(s)}
	if s.Person != nil {
		sides.Person = s.Person.Column
	}
	d, err := l.Deal(ctx, sides)
	if err != nil {
		return err
	}
	f.Key = d.Key
	return f.writeSides(ctx, s, func() error { return d.Keep(ctx) })
}

// writeSides writes both files. They get their names only if keep, which is called last, succeeds.
func (f *splitFlags) writeSides(ctx context.Context, s *schema.Schema, keep func() error) error {
	formats := [2]dataset.Format{dataset.FormatOf(f.train), dataset.FormatOf(f.test)}
	return f.WriteFile(f.train, func(train io.Writer) error {
		return f.WriteFile(f.test, func(test io.Writer) error {
			if err := f.Write(ctx, s, dataset.Options{}, train, test, formats, f.data...); err != nil {
				return err
			}
			return keep()
		})
	})
}
