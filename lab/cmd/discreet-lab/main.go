// SPDX-License-Identifier: Apache-2.0

// Command discreet-lab measures the figures of the papers again and makes a page
// of them. No figure is private: the data are public, the seeds known, and every model
// that a figure trains is marked as seeded. It also trains the papers' learners that the product
// leaves out, under the product's contract.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/lab/internal/learners"
)

func main() {
	learners.Register()
	os.Exit(cli.Main(newRoot))
}

// app adds the commands of the laboratory to what every command knows.
type app struct{ *commands.App }

// newRoot returns the whole command tree.
func newRoot(c *cli.App) *cobra.Command {
	a := &app{&commands.App{App: c}}
	a.DrawAudit = a.drawAudit
	return a.NewRoot(&cobra.Command{
		Use:   "discreet-lab",
		Short: "measure the figures of the papers anew",
		Long: `Discreet-lab measures the figures of the four papers that discreet implements,
judges their claims, and makes one page of what was measured. It also trains
people, pate and adaboost, which discreet leaves out. Their models, prices and
ledgers are those of discreet, which reads and scores the models.`,
		Example: `  discreet-lab data
  discreet-lab experiment list
  discreet-lab experiment run shen/fig2a --out figures
  discreet-lab report figures --out report.html
  discreet-lab boost --data t.csv --schema t.yaml --epsilon 4 --not-private --model m.json
  discreet-lab train --data t.csv --schema t.yaml --learner pate --epsilon 1 --model m.json`,
	}, nil, a.newExperimentCommand(), a.newPanelCommand(), a.newFloorCommand(), a.newReportCommand(), a.newCoverageCommand(), a.newCensusCommand(), a.newDataCommand(), a.NewPlanCommand(),
		a.NewTrainCommand(),
		a.NewAuditCommand(), a.newAttackCommand(), a.newBoostCommand(), a.newCompareCommand())
}
