// SPDX-License-Identifier: Apache-2.0

// Command discreet trains classifiers that provably hide the private columns
// of a table.
//
// Results go to standard output, talk and progress to standard error. It exits
// with 0 when all is well, 1 when something failed, 2 when the command line
// asks for something that cannot be, and 3 when a privacy budget refuses.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/discreet-dp/discreet/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends even what does not listen
	code := cli.Run(ctx, newRoot, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
