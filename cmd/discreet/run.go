// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
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
		Short: "train classifiers that provably hide the private columns of a table",
		Long: `Discreet trains classifiers on tables whose columns are partly private, and
proves (by differential privacy) how little a model tells about the private
part of anybody's row.

A schema says what is known about a table before anybody looks at it, a plan
says what a training will cost, and a model carries the statement of what it
did cost.

It exits with 0 when all is well, 1 when something failed, 2 when the command
line asks for something that cannot be, and 3 when a privacy budget refuses.`,
		Example: `  discreet demo
  discreet schema init patients.csv > patients.yaml
  discreet plan     --schema patients.yaml --learner brc --epsilon 0.5 --rows 20000
  discreet train    --data patients.csv --schema patients.yaml --learner brc --epsilon 0.5 --model m.json
  discreet evaluate --model m.json --data held-out.csv
  discreet predict  --model m.json --data new.csv --out predicted.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cli.Group(root,
		a.newSchemaCommand(),

		a.newPlanCommand(),
		a.newTrainCommand(),
		a.newTuneCommand(),
		a.newBudgetCommand(),

		a.newSimulateCommand(),
		a.newPartyCommand(),
		a.newCombineCommand(),

		a.newPredictCommand(),
		a.newExplainCommand(),
		a.newEvaluateCommand(),
		a.newCompareCommand(),
		a.newAuditCommand(),
		a.newAttackCommand(),
		a.newDemoCommand(),

		a.newCertsCommand(),
		a.newAggregatorCommand(),
		a.newHelperCommand(),
		a.newTaskCommand(),
		a.newOwnerCommand(),

		a.newVersionCommand(),
	)
	return root
}
