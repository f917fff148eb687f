// SPDX-License-Identifier: Apache-2.0

// Package commands has the command that serves predictions.
package commands

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/serve/inference"
)

// MisuseError is a fault of the command line itself.
type MisuseError struct{ Err error }

func (e *MisuseError) Error() string { return e.Err.Error() }
func (e *MisuseError) Unwrap() error { return e.Err }

// NewCommand returns the command that serves until its context ends. level is the level of opts.Log.
func NewCommand(opts inference.Options, level *slog.LevelVar) *cobra.Command {
	place, tokens, keys, verbose := inference.Place{}, "", "", false
	c := &cobra.Command{
		Use:   "serve",
		Short: "answer requests for predictions over HTTP and gRPC",
		Long: `Serve answers requests for predictions over HTTP and gRPC at one address. It
implements the Open Inference Protocol, version 2, like Triton, KServe and
MLServer. A model's name is the name of its file without .json or .zip, or NAME in
NAME=FILE. Its inputs are its columns; its outputs are label and score.

A file may also be a release (discreet release); with --require-signed it must be
one that a trusted key signed.

Replacing the file atomically, by a rename, reloads the model within a second.
Requests that have begun are answered by the old model. If the new file cannot
be served, the old model stays in place.

To listen on a non-local address, pass --tls-cert, --tls-key and --tokens (one
token per line); callers send "Authorization: Bearer TOKEN". If a proxy in front
handles encryption and authentication, pass --plain. Log lines are JSON on
standard error and never contain a cell. GET /metrics is for Prometheus. After
an interrupt, open requests are completed and GET /v2/health/ready reports that
the server is not ready.

Serve reads models and no table, so it costs no budget. See docs/serving.md for
examples.`,
		Example: `  discreet serve --model m.json
  discreet serve --model risk=m.json --listen :8443 --tls-cert c.pem --tls-key k.pem --tokens tokens.txt`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if verbose {
				level.Set(slog.LevelDebug)
			}
			if err := place.Check(tokens != ""); err != nil {
				return &MisuseError{err}
			}
			return inference.RunUntil(c.Context(), func(ctx context.Context) (err error) {
				if opts.Tokens, err = inference.ReadTokens(tokens); err != nil {
					return err
				}
				if opts.Trusted, err = release.ReadTrusted("serve", keys); err != nil {
					return err
				}
				return inference.Run(ctx, opts, place)
			})
		},
	}
	f := c.Flags()
	f.StringArrayVar(&opts.Models, "model", nil, "a model `file` or a release of it, or NAME=FILE; may be repeated")
	f.StringVar(&keys, "require-signed", "",
		"take only releases that are signed by a key of this `file` of public keys, also when files are replaced")
	f.StringVar(&place.Address, "listen", "localhost:8080", "the `address` to listen at, host:port")
	f.StringVar(&place.Cert, "tls-cert", "", "the certificate, a PEM `file` that may be replaced")
	f.StringVar(&place.Key, "tls-key", "", "its key, a PEM `file`")
	f.StringVar(&tokens, "tokens", "", "a `file` of tokens, one a line, of which callers send one")
	f.BoolVar(&place.Plain, "plain", false, "listen on a non-local address without TLS or tokens")
	f.Int64Var(&opts.MaxBody, "max-body", opts.MaxBody, "`bytes` that a request may have")
	f.IntVar(&opts.MaxRows, "max-rows", opts.MaxRows, "`rows` that a request may have")
	f.IntVar(&opts.Concurrency, "concurrency", opts.Concurrency,
		"`requests` answered at the same time; others wait 2 s and are then refused")
	f.Int64Var(&opts.Memory, "memory", opts.Memory, "`bytes` that all requests take together")
	f.BoolVar(&verbose, "log-requests", false, "log successful requests too")
	if err := c.MarkFlagRequired("model"); err != nil {
		panic(err)
	}
	return c
}

// StepWords returns this command's words for a step.
func StepWords(s dp.Step) string {
	if s.Kind == dp.SecureServer {
		return "give --tls-cert, --tls-key and --tokens, or --plain if a proxy in front handles both"
	}
	return s.String()
}
