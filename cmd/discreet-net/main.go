// SPDX-License-Identifier: Apache-2.0

// Command discreet-net trains differentially private classifiers if no one may see all rows: on
// reports that people perturb at home, and on the tables of parties that may not pool them. Its exit
// codes are those of discreet.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	network "github.com/discreet-dp/discreet/internal/net/commands"
	"github.com/discreet-dp/discreet/internal/spark/cluster"
)

func main() { os.Exit(cli.Main(newRoot)) }

// newRoot returns the whole command tree.
func newRoot(c *cli.App) *cobra.Command {
	root := network.NewRoot(&commands.App{App: c, Cluster: cluster.New})
	root.AddCommand(cluster.NewWorker(c.Stdin, c.Data()))
	return root
}
