// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/lab/internal/experiment"
)

// experimentList is the flags of the command.
type experimentList struct {
	*app
	json bool
}

// figure is what list prints for programs.
type figure struct {
	Name    string   `json:"name"`
	Paper   string   `json:"paper"`
	Title   string   `json:"title"`
	Claim   string   `json:"claim"`
	Data    string   `json:"data"`
	Repeats int      `json:"repeats"`
	Checks  []string `json:"checks"` // what the verdict asks, and of what size
}

func (a *app) experimentList() *cobra.Command {
	l := &experimentList{app: a}
	c := &cobra.Command{
		Use:   "list",
		Short: "list the figures",
		Long:  `List prints the name of each figure, what it shows and what the paper claims.`,
		Example: `  discreet-lab experiment list
  discreet-lab experiment list --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return l.listExperiments() },
	}
	c.Flags().BoolVar(&l.json, "json", false, "print one JSON array")
	return c
}

func (l *experimentList) listExperiments() error {
	all := []figure{}
	for _, f := range experiment.All() {
		var checks []string
		for _, c := range f.ListChecks() {
			checks = append(checks, c.What+": "+c.Paper)
		}
		all = append(all, figure{f.Name, f.Paper, f.Title, f.Claim, f.Data, f.Repeats, checks})
	}
	if l.json {
		return cli.WriteJSON(l.Stdout, all)
	}
	for _, f := range all {
		if _, err := plaintext.Fprintf(l.Stdout, "%s  %s\n    claim: %s\n    paper: %s\n", f.Name, f.Title, f.Claim,
			f.Paper); err != nil {
			return err
		}
	}
	return nil
}
