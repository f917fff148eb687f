// SPDX-License-Identifier: Apache-2.0

// Command discreet-net trains differentially private classifiers if no one may see all rows:
// among people who perturb at home, and among parties that may not pool their tables. Its exit
// codes are those of discreet.
package main

import (
	"os"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands/network"
)

func main() { os.Exit(cli.Main(network.NewRoot)) }
