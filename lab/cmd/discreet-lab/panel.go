// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frontier"
)

// newPanelCommand measures the quick panel.
func (a *app) newPanelCommand() *cobra.Command {
	var against string
	q := frontier.Quick{}
	c := &cobra.Command{
		Use:   "panel",
		Short: "measure the default learner on many tables, beside a baseline",
		Long: `Panel trains on tables of at most 20,000 rows, thirteen of the data sets and
the others generated, and appends a line a fit to --out. Fits that the file holds
already are not repeated. It prints means over the tables and, with --against,
the paired differences to the fits in that file and the ten cells that lost most.

Nothing it does is private: the data are public and the seeds known.`,
		Example: `  discreet-lab panel --out before.jsonl
  discreet-lab panel --out after.jsonl --against before.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q.Datasets, q.Say = a.Getenv("DISCREET_DATASETS"), a.sayFit
			fits, err := q.Run(c.Context())
			if err != nil {
				return err
			}
			var baseline []frontier.Fit
			if against != "" {
				if baseline, err = frontier.ReadFits(against); err != nil {
					return err
				}
			}
			frontier.Compare(a.Stdout, fits, baseline)
			return nil
		},
	}
	c.Flags().StringVar(&q.Out, "out", "", "the `file` to append to")
	c.Flags().StringVar(&against, "against", "", "a `file` of fits to compare with")
	c.Flags().StringVar(&q.Learner, "learner", "auto", "auto, additive, grids, or average of the latter two")
	c.Flags().IntVar(&q.Repeats, "repeats", 2, "how often to measure each cell")
	c.Flags().StringSliceVar(&q.Tables, "tables", nil, "parts of names of tables; none for all")
	c.Flags().StringSliceVar(&q.Scopes, "scopes", nil, "of partly, everything, label and mixed; none for all")
	c.Flags().BoolSliceVar(&q.Deltas, "deltas", []bool{false, true}, "whether a δ of 1e-6 is given")
	c.Flags().Float64SliceVar(&q.Epsilons, "epsilons", []float64{0.1, 1, 4}, "privacy losses")
	cli.Reads(c, "out", "against") // it appends to what it has read, and replaces nothing
	cli.Require(c, "out")
	return c
}

// newFloorCommand measures the floor.
func (a *app) newFloorCommand() *cobra.Command {
	q := frontier.Quick{}
	c := &cobra.Command{
		Use:   "floor",
		Short: "look for tables on which the default learner is worse than a constant",
		Long: `Floor trains on invented tables of 100 to 50,000 rows and 5 to 120 columns, at ε = .01
to 10, and appends a line a fit to --out. Fits that the file holds already are not
repeated. It prints the cells whose log loss is above that of a constant at the same price,
of the public columns alone, or of the same table with everything private, by more
than .003 and three standard errors. Such cells are measured once more, with 100 new fits.

Nothing it does is private: the data are invented and the seeds known.`,
		Example: `  discreet-lab floor --out floor.jsonl`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q.Say = a.sayFit
			fits, err := q.Floor(c.Context())
			if err != nil {
				return err
			}
			frontier.PrintMargins(a.Stdout, fits)
			return nil
		},
	}
	c.Flags().StringVar(&q.Out, "out", "", "the `file` to append to")
	c.Flags().StringVar(&q.Learner, "learner", "auto", "auto, additive, or grids")
	c.Flags().IntVar(&q.Repeats, "repeats", 20, "how often to measure each cell")
	c.Flags().StringSliceVar(&q.Tables, "tables", nil, "parts of names of tables; none for all")
	cli.Reads(c, "out") // it appends to what it has read, and replaces nothing
	cli.Require(c, "out")
	return c
}

func (a *app) sayFit(f frontier.Fit) {
	plaintext.Fprintf(a.Stderr, "%s, %s, δ %t, ε = %g, repeat %d: AUC %.4f, log loss %.4f, %.2f s\n", f.Table, f.Scope,
		f.Delta, f.Epsilon, f.Repeat, f.AUC, f.LogLoss, f.Seconds)
}
