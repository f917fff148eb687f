// SPDX-License-Identifier: Apache-2.0

// Command discreet-net trains differentially private classifiers if no one may see all rows: on
// reports that people perturb at home, and on the tables of parties that may not pool them. Its exit
// codes are those of discreet.
package main

import (
	"os"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/commands"
)

func main() { os.Exit(cli.Main(network.NewRoot)) }
