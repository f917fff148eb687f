// SPDX-License-Identifier: Apache-2.0

// Package network contains the commands of discreet-net: for people who perturb at home, parties that
// vote, and the institutions between them.
package network

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
)

// app adds the commands of discreet-net to the shared ones.
type app struct{ *commands.App }

// NewRoot returns the whole command tree.
func NewRoot(a *commands.App) *cobra.Command { return (&app{a}).newRootCommand() }

// newRootCommand returns the root command with all others below it.
func (a *app) newRootCommand() *cobra.Command {
	root := a.NewRoot(&cobra.Command{
		Use:   "discreet-net",
		Short: "train private classifiers on tables that may not be pooled",
		Long: `Discreet-net trains differentially private classifiers on rows that no one may
see together. People perturb their own answers or share secret sums.
Institutions vote on public rows, or add up noisy sums. Ledgers, schemas and
models are those of discreet. Exit codes: 0 success, 1 error, 2 invalid command
line, 3 budget refused, 4 site check: the schema does not fit.`,
		Example: `  discreet-net demo sites
  discreet-net simulate --plan --schema adult.yaml --epsilon 1 --owners 100000
  discreet-net site plan --schema aux.yaml --parties 200 --epsilon 1`,
	}, []commands.Group{
		{Title: "Institutions that may not pool their tables", Commands: []*cobra.Command{a.newSiteCommand()}},
		{Title: "People who perturb at home", Commands: []*cobra.Command{a.newSimulateCommand(), a.newAggregatorCommand(),
			a.newTaskCommand(), a.newOwnerCommand(), a.newHelperCommand()}},
		{Title: "Both", Commands: []*cobra.Command{a.newDemoCommand(), a.newCertsCommand(), a.newDoctorCommand()}},
	}, a.NewKeygenCommand("discreet-net"))
	commands.NameProgram(root, "discreet", "audit", "budget", "card", "evaluate",
		"explain", "export", "plan", "predict", "predict-rows", "release", "schema", "serve", "show", "split", "train",
		"ui", "verify")
	commands.NameProgram(root, "discreet-lab", commands.Laboratory...)
	return root
}
