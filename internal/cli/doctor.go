// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// NewDoctor is the command that says what an engine lacks. examine tells note of each thing that it
// looks for, "" for want where nothing is missing; submit and master are those of train.
func (a *App) NewDoctor(examine func(ctx context.Context, engine, submit, master string,
	note func(what, found, want string)) error) *cobra.Command {
	var engine, submit, master string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check that everything a training engine needs is there",
		Long: `Doctor checks whether everything that train --engine needs is available, and
prints what it found and what is missing. It reads no table and charges nothing.

With --engine spark it looks for Java, spark-submit and Python on this machine.
If they are found, it starts a session, checks Python, pyarrow and pandas on the
executors, and starts this program there. It exits with 1 if something is
missing.`,
		Example: `  discreet doctor --engine spark
  discreet doctor --engine spark --master spark://host:7077 --spark-submit "/opt/spark/bin/spark-submit"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			missing := 0
			err := examine(c.Context(), engine, submit, master, func(what, found, want string) {
				if found != "" {
					what += ": " + found
				}
				if want == "" {
					fmt.Fprintf(a.Stdout, "ok       %s\n", what)
					return
				}
				missing++
				fmt.Fprintf(a.Stdout, "missing  %s (needed: %s)\n", what, want)
			})
			switch {
			case err != nil:
				return &UsageError{Err: err}
			case missing > 0:
				return fmt.Errorf("doctor: %d of the things that engine %s needs are missing", missing, engine)
			}
			return nil
		},
	}
	c.Flags().StringVar(&engine, "engine", "disk", "which `engine` to look for: memory, disk or spark")
	c.Flags().StringVar(&master, "master", "", "with --engine spark, the cluster's `address`, as for train")
	c.Flags().StringVar(&submit, "spark-submit", "",
		"with --engine spark, the `command` that submits, as for train (default \"spark-submit\")")
	return c
}
