// SPDX-License-Identifier: Apache-2.0

// Command discreet trains classifiers that provably hide the private columns
// of a table.
//
// Results go to standard output, talk and progress to standard error. It exits
// with 0 when all is well, 1 when something failed, 2 when the command line
// asks for something that cannot be, and 3 when a privacy budget refuses.
package main

import (
	"os"

	"github.com/discreet-dp/discreet/internal/cli"
)

func main() { os.Exit(cli.Main(newRoot)) }
