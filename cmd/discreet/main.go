// SPDX-License-Identifier: Apache-2.0

// Command discreet trains differentially private classifiers on tables.
//
// Results go to standard output, messages and progress to standard error. It exits with 0 on success,
// 1 after a failure, 2 if the command line is invalid, 3 if a privacy budget refuses, and 4 if a schema does not
// fit the table that was checked.
package main

import (
	"os"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

func main() { os.Exit(cli.Main(newRoot)) }
