// SPDX-License-Identifier: Apache-2.0

package network

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

func (a *app) newPartyCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "party",
		Short: "take part in learning from many parties",
		Long: `Each party trains any classifier on its own table, and uses it to vote
on the rows of one public table without labels, the auxiliary table. Combine
turns the votes into a classifier that is private for everything that one party
holds. Votes are sent as files (vote), or over the network (serve).`,
		Example: `  discreet-net party plan  --schema aux.yaml --parties 200 --rows 5000 --epsilon 1
  discreet-net party train --data mine.csv --schema mine.yaml --learner logistic --model m.json
  discreet-net party vote  --model m.json --aux aux.csv --out votes/mine
  discreet-net combine     --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 --model global.json`,
	},
		a.newPartyPlanCommand(),
		a.NewPartyTrainCommand(),
		a.newPartyVoteCommand(),
		a.newPartyServeCommand(),
	)
}
