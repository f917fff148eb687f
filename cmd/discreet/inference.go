// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/serve/commands"
	"github.com/discreet-dp/discreet/internal/serve/inference"
)

func (a *app) newServeCommand() *cobra.Command {
	level, opts := new(slog.LevelVar), inference.DefaultOptions()
	handler := slog.NewJSONHandler(a.Stderr, &slog.HandlerOptions{Level: level})
	opts.Log, opts.Faults, opts.Version = slog.New(handler), slog.NewLogLogger(handler, slog.LevelDebug), build.Describe("discreet")
	c := commands.NewCommand(opts, level)
	serve := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		err := serve(c, args)
		if _, ok := errors.AsType[*commands.MisuseError](err); ok {
			return &cli.UsageError{Err: err}
		}
		return err
	}
	cli.AddConfig(c)
	cli.Reads(c, "model", "tls-cert", "tls-key", "tokens", "require-signed")
	return c
}
