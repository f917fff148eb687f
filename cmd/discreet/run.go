// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/spark/cluster"
)

// app adds the commands of discreet to the shared ones.
type app struct{ *commands.App }

// newRoot returns the whole command tree.
func newRoot(c *cli.App) *cobra.Command {
	return (&app{&commands.App{App: c, Cluster: cluster.New}}).newRootCommand()
}

// newRootCommand returns the root command with all others below it.
func (a *app) newRootCommand() *cobra.Command {
	root := a.NewRoot(&cobra.Command{
		Use:   "discreet",
		Short: "train differentially private classifiers on tables",
		Long: `Discreet trains differentially private classifiers on tables. Institutions use
discreet-net. Exit codes: 0 success, 1 error, 2 invalid command line, 3 budget
refused, 4 schema check: the schema does not fit. DISCREET_A_FLAG sets --a-flag.`,
		Example: `  discreet schema init p.csv > p.yaml
  discreet train   --schema p.yaml --epsilon 1 --data p.csv --model m.json
  discreet predict --model m.json --data new.csv --out scores.csv`,
	}, []commands.Group{
		{Title: "A table and its schema", Commands: []*cobra.Command{a.newDemoCommand(), a.newSchemaCommand(),
			a.newSplitCommand(), a.newUICommand(), a.NewPlanCommand(), a.NewTrainCommand(), a.newBudgetCommand()}},
		{Title: "A model", Commands: []*cobra.Command{a.newPredictCommand(), a.newPredictRowsCommand(), a.newServeCommand(),
			a.newExplainCommand(), a.newEvaluateCommand(), a.newShowCommand(), a.newCardCommand(), a.newExportCommand(),
			a.newReleaseCommand(), a.newVerifyCommand(), a.NewAuditCommand()}},
	}, a.newDoctorCommand(), a.NewKeygenCommand("discreet"))
	commands.NameProgram(root, "discreet-net", "aggregator", "certs", "helper", "owner", "simulate", "site",
		"task")
	commands.NameProgram(root, "discreet-lab", commands.Laboratory...)
	root.AddCommand(cluster.NewWorker(a.Stdin, a.Data()))
	return root
}
