// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

func (a *app) newExperimentCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "experiment",
		Short: "measure figures of the papers anew",
		Long: `An experiment measures a figure of a paper anew, on public data and with known
seeds, and judges whether what the paper claims came out.`,
		Example: `  discreet-lab experiment list
  discreet-lab experiment run shen/fig2a --out figures`,
	}, a.experimentList(), a.experimentRun())
}
