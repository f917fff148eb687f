// SPDX-License-Identifier: Apache-2.0

// Command discreet-lab measures the figures of the papers anew and makes a page
// of them. Nothing it does is private: the data are public, the seeds known, and
// every model it trains is marked as seeded.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends even what does not listen
	code := cli.Run(ctx, newRoot, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app adds the commands of the laboratory to what every command knows.
type app struct{ *cli.App }

// newRoot returns the whole command tree.
func newRoot(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "discreet-lab",
		Short: "measure the figures of the papers anew",
		Long: `Discreet-lab measures the figures of the four papers that discreet implements,
judges their claims, and makes one page of what was measured. It is for
researchers; discreet itself is what to use on one's own data.`,
		Example: `  discreet-lab experiment list
  discreet-lab experiment run shen/fig2a --out figures
  discreet-lab report figures --out report.html`,
	}, a.newExperimentCommand(), a.newReportCommand())
}
