// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// schemaCheck holds the flags of the command.
type schemaCheck struct {
	*app
	data          []string
	json, explain bool
	checks        commands.Checks
}

func (a *app) newSchemaCheckCommand() *cobra.Command {
	k := &schemaCheck{app: a}
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "check a schema file, and files of the table against it",
		Long: `Check reads a schema file and lists everything that is wrong or missing in it.

With --data it also reads the table, as a training would. It lists structural
faults by file, line and column: ragged rows, columns that are not declared,
public cells that cannot be read. If there are none, it counts for each column
the cells that training would repair silently: missing cells, values that are
not declared, numbers outside the bounds, and unreadable cells. It never prints
a cell.

If 20 % of the cells of a column or of the label are not what the schema declares
(--mostly moves that), the schema does not fit, and the exit code is 4. Missing
cells count only in the label, or if all are missing. Values that a category
leaves out, perhaps on purpose, count from 50 % on.

The counts and the exit code are exact, also for private cells, and so NOT
PRIVATE. Show them only to people who may see the rows. Training only if the exit
code is 0 tells others one bit about the rows.

The check is recorded beside the schema, whatever it finds (docs/schema.md).`,
		Example: `  discreet schema check adult.yaml
  discreet schema check adult.yaml --explain
  discreet schema check adult.yaml --data adult.data.gz --data adult.test.gz`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return k.checkFile(c.Context(), args[0]) },
	}
	c.Flags().StringArrayVar(&k.data, "data", nil, commands.TableWords+"; - is standard input; may be repeated")
	cli.ReadsArguments(c)
	cli.Reads(c, "data")
	c.Flags().BoolVar(&k.json, "json", false, "print the schema as JSON; with --data the counts in its place")
	c.Flags().BoolVar(&k.explain, "explain", false, "list what is missing in the order to decide it")
	k.checks.AddMostly(c)
	return c
}

func (k *schemaCheck) checkFile(ctx context.Context, path string) error {
	s, err := schema.Load(path)
	if steps := schema.ExplainFaults(err); k.explain && steps != "" {
		if _, err := io.WriteString(k.Stderr, steps); err != nil {
			return err
		}
		return fmt.Errorf("%s: not complete yet", path)
	}
	if err != nil {
		return err
	}
	if k.json && len(k.data) == 0 {
		return cli.WriteJSON(k.Stdout, s)
	}
	var tally *dataset.Tally
	fits := "fine"
	if len(k.data) > 0 {
		if tally, err = k.checks.Check(ctx, k.App, s, path, k.data); err != nil {
			return err
		}
		if k.checks.Misfit(tally) != nil {
			fits = "does not fit"
		}
	}
	if k.json {
		return k.checks.Print(k.App, tally, true)
	}
	derived, pairs := "", ""
	for _, c := range s.Columns[len(s.FileColumns()):] {
		from := fmt.Sprint(len(c.From))
		if len(c.From) == 1 {
			from = strconv.Quote(s.Columns[c.From[0]].Name)
		}
		derived += fmt.Sprintf(", %q the %s of %s (%s)", c.Name, c.Derived, from, c.Role)
	}
	for _, p := range s.Pairs {
		pairs += fmt.Sprintf(", pair %s", schema.PairName(s.Columns[p[0]].Name, s.Columns[p[1]].Name))
	}
	_, err = plaintext.Fprintf(k.Stdout, "%s: %s: %d private, %d public and %s%s%s%s, label %q (%s), %s\n",
		path, fits, len(s.ByRole(schema.Private)), len(s.ByRole(schema.Public)), plaintext.Count(len(s.ByRole(schema.Ignored)), "ignored column"),
		derived, describeCuts(s), pairs, s.Label.Name, s.Label.Role, s.Relation)
	if err != nil || tally == nil {
		return err
	}
	return k.checks.Print(k.App, tally, false)
}

// describeCuts lists the columns whose bins are declared rather than derived from bounds and levels.
func describeCuts(s *schema.Schema) (words string) {
	for _, c := range s.Columns {
		switch {
		case c.Quantiles:
			words += fmt.Sprintf(", %q cut at quantiles", c.Name)
		case len(c.Groups) > 0:
			words += fmt.Sprintf(", %q in %d groups", c.Name, len(c.Groups))
		}
	}
	return words
}
