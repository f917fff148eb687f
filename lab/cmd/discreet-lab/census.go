// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

// The files of an invented census.
const (
	censusSchema = "census.yaml"
	censusPeople = "people.csv.gz"
)

// newCensusCommand writes invented tables of any size.
func (a *app) newCensusCommand() *cobra.Command {
	var rows int
	var seed uint64
	var out string
	c := &cobra.Command{
		Use:   "census",
		Short: "invent a census of any size",
		Long: `Census writes a table of invented people, and its schema, into a folder. A shorter
table is the beginning of a longer one of the same seed. The first 20,000 people
of seed 1 are the table of discreet demo.`,
		Example: `  discreet-lab census --rows 1000000 --out sample`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if rows < 1 {
				return cli.Refuse("census", "rows", "must be at least 1", rows)
			}
			if err := os.MkdirAll(out, 0o777); err != nil {
				return err
			}
			if err := a.WritePublicFile(filepath.Join(out, censusSchema), census.WriteSchema); err != nil {
				return err
			}
			return a.WritePublicFile(filepath.Join(out, censusPeople),
				func(w io.Writer) error { return census.WritePeople(w, seed, rows) })
		},
	}
	c.Flags().IntVar(&rows, "rows", 20_000, "how many people to invent")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the people")
	c.Flags().StringVar(&out, "out", "", "the `folder` to write to")
	cli.WritesInto(c, "out", censusSchema, censusPeople)
	cli.Require(c, "out")
	return c
}
