// SPDX-License-Identifier: Apache-2.0

// Command discreet-serve is `discreet serve` alone, a quarter of the size: no loader of tables, no
// learner, no noise and no ledger is linked into it.
//
// It exits with 0 after a signal to stop, 1 after a failure, and 2 if the command line is invalid.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/serve/commands"
	"github.com/discreet-dp/discreet/internal/serve/inference"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends even what does not listen
	said := plaintext.NewWriter(os.Stderr)
	level, opts := new(slog.LevelVar), inference.DefaultOptions()
	handler := slog.NewJSONHandler(said, &slog.HandlerOptions{Level: level})
	opts.Log, opts.Faults = slog.New(handler), slog.NewLogLogger(handler, slog.LevelDebug)
	opts.Version = build.Describe("discreet-serve")
	c := commands.NewCommand(opts, level)
	c.Use, c.Version = "discreet-serve", opts.Version
	c.SetVersionTemplate("{{.Version}}\n")
	c.Example = strings.ReplaceAll(c.Example, "discreet serve", c.Use)
	c.SetErr(said)
	c.SilenceErrors, c.SilenceUsage = true, true
	code := 2
	c.PreRun = func(*cobra.Command, []string) { code = 1 }
	if err := c.ExecuteContext(ctx); err != nil {
		plaintext.Fprintf(said, "error: %s\n", dp.Reword(err, commands.StepWords))
		stop()
		if _, ok := errors.AsType[*commands.MisuseError](err); ok {
			code = 2
		}
		os.Exit(code)
	}
	stop()
}
