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
		Short: "measure the default learner on nineteen tables, beside a baseline",
		Long: `Panel trains on nineteen tables of at most 20,000 rows, thirteen of the data
sets and six generated ones, and appends a line a fit to --out. Fits that the file holds
already are not repeated. It prints means over the tables and, with --against,
the paired differences to the fits in that file.

Nothing it does is private: the data are public and the seeds known.`,
		Example: `  discreet-lab panel --out before.jsonl
  discreet-lab panel --out after.jsonl --against before.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q.Datasets = a.Getenv("DISCREET_DATASETS")
			q.Say = func(f frontier.Fit) {
				plaintext.Fprintf(a.Stderr, "%s, %s, δ %t, ε = %g, repeat %d: AUC %.4f, log loss %.4f, %.2f s\n", f.Table, f.Scope,
					f.Delta, f.Epsilon, f.Repeat, f.AUC, f.LogLoss, f.Seconds)
			}
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
