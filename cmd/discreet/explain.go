// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// explainFlags holds the flags of the command.
type explainFlags struct {
	*app
	model string
	out   string
	json  bool
}

func (a *app) newExplainCommand() *cobra.Command {
	e := &explainFlags{app: a}
	c := &cobra.Command{
		Use:   "explain",
		Short: "draw what each column adds to a model",
		Long: `Explain writes one HTML page about a model. The page draws what each column adds
to the log-odds of the positive class, with the uncertainty that the model
states. It also shows the importance of each column, the intercept, and the
privacy statement.

A logistic model is shown as a table of coefficients, with one column for each
class if the label has more than two. Other models are refused, because none of
their parts has a meaning of its own.

Explain reads the model and no row. It costs no budget and reveals nothing that
is not in the model. The page is a single file and loads nothing else.`,
		Example: `  discreet explain --model m.json --out explain.html
  discreet explain --model m.json --json | head`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.runExplain() },
	}
	c.Flags().StringVar(&e.model, "model", "", "the model `file`")
	c.Flags().StringVar(&e.out, "out", "", "the HTML `file` to write; replaced if it is there")
	c.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	cli.Reads(c, "model")
	cli.Writes(c, "out")
	cli.Require(c, "model")
	c.MarkFlagsOneRequired("out", "json")
	return c
}

func (e *explainFlags) runExplain() error {
	if err := cli.CheckPage("explain", e.out); err != nil {
		return err
	}
	m, err := discreet.LoadModel(e.model)
	if err != nil {
		return err
	}
	x, err := m.Explain()
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if e.out != "" {
		if err := e.WriteFile(e.out, x.WriteHTML); err != nil {
			return fmt.Errorf("explain: %w", err)
		}
		e.Say("wrote %s", e.out)
	}
	if e.json {
		return cli.WriteJSON(e.Stdout, x)
	}
	return nil
}
