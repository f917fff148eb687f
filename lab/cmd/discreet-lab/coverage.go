// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/coverage"
)

// newCoverageCommand measures the intervals of private evaluations.
func (a *app) newCoverageCommand() *cobra.Command {
	o := coverage.Options{Seed: 1}
	var epsilons []string
	var out string
	c := &cobra.Command{
		Use:   "coverage",
		Short: "measure how often intervals of private evaluations hold",
		Long: `Coverage draws held-out rows from tables whose scores are computed once, evaluates
them privately, and counts how often each interval holds the true number. It adds
one line to the folder for each table, ε and number of rows. A line that is there is
not measured again. Nothing it does is private: the seed is 1.`,
		Example: `  discreet-lab coverage --out coverage
  discreet-lab coverage --out quick --tables adult,rare --epsilons 0.5 --rows 1000 --draws 100`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, text := range epsilons {
				eps, err := dp.ParseEpsilon(text)
				if err != nil {
					return &cli.UsageError{Err: err}
				}
				o.Epsilons = append(o.Epsilons, eps)
			}
			o.Datasets, o.Progress = a.Getenv("DISCREET_DATASETS"), func(line string) { a.Say("%s", line) }
			if err := os.MkdirAll(out, 0o777); err != nil {
				return err
			}
			o.Path = filepath.Join(out, coverage.File)
			return coverage.Run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&out, "out", "", "the `folder` to write to")
	c.Flags().StringSliceVar(&o.Tables, "tables", nil, "`names` of tables (default all)")
	c.Flags().StringSliceVar(&epsilons, "epsilons", []string{"0.1", "0.5", "1"}, "the `numbers` ε")
	c.Flags().IntSliceVar(&o.Rows, "rows", []int{1000, 5000, 50000}, "`numbers` of held-out rows")
	c.Flags().IntVar(&o.Draws, "draws", 2000, "draws of each point")
	cli.WritesInto(c, "out", coverage.File)
	cli.Require(c, "out")
	return c
}
