// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/predict"
	"github.com/discreet-dp/discreet/internal/train"
)

// app adds the commands of discreet to what every command knows.
type app struct{ *cli.App }

// clock is what services and deadlines go by. Tests put another one in its place.
var clock = time.Now

// newRoot returns the whole command tree.
func newRoot(c *cli.App) *cobra.Command { return (&app{c}).newRootCommand() }

// newRootCommand is the command without a name and everything below it.
func (a *app) newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "discreet",
		Short: "train differentially private classifiers on tables",
		Long: `Discreet trains differentially private classifiers on tables with private
columns. Differential privacy bounds how much anyone can learn from a model
about the private part of one person's row.

You declare what is known about a table in a schema, before its rows are read. A
plan prints what a training will cost. A model contains a statement of what its
training did cost.

Exit codes: 0 for success, 1 for an error, 2 if the command line is invalid, and
3 if a privacy budget refuses.`,
		Example: `  discreet demo
  discreet schema init patients.csv > patients.yaml
  discreet plan     --schema patients.yaml --epsilon 1 --rows 20000
  discreet train    --data patients.csv --schema patients.yaml --epsilon 1 --model m.json
  discreet evaluate --model m.json --data held-out.csv
  discreet predict  --model m.json --data new.csv --out predicted.csv`,
		Version:       describeBuild(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"A table and its schema", []*cobra.Command{a.newDemoCommand(), a.newSchemaCommand(), a.newSplitCommand(),
			a.newPlanCommand(),
			a.newTrainCommand(), a.newTuneCommand(), a.newBudgetCommand()}},
		{"A model", []*cobra.Command{a.newPredictCommand(), a.newPredictRowsCommand(),
			a.newServeCommand(), a.newExplainCommand(), a.newEvaluateCommand(),
			a.newShowCommand(), a.newCardCommand(), a.newExportCommand()}},
		{"What learners and claims are worth",
			[]*cobra.Command{a.newCompareCommand(), a.newAuditCommand(), a.newAttackCommand()}},
		{"Institutions that may not pool their tables", []*cobra.Command{a.newPartyCommand(), a.newCombineCommand()}},
		{"People who perturb at home", []*cobra.Command{a.newSimulateCommand(), a.newAggregatorCommand(), a.newTaskCommand(),
			a.newOwnerCommand(), a.newHelperCommand(), a.newCertsCommand()}},
	} {
		id := strconv.Itoa(len(root.Groups()))
		root.AddGroup(&cobra.Group{ID: id, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = id
		}
		root.AddCommand(g.commands...)
	}
	root.SetVersionTemplate("{{.Version}}\n")
	cli.Group(root, a.newVersionCommand(), a.NewDoctor(train.Examine))
	root.AddCommand(cli.NewWorker(predict.ServeWorker, a.Stdin, a.Stdout))
	return root
}
