// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

// aggregatorFlags holds the flags of the command.
type aggregatorFlags struct {
	*app
	listener
	anchors        commands.AnchorsFlag
	state, epsilon string
	each           int
	relays         []string
}

func (a *app) newAggregatorCommand() *cobra.Command {
	g := &aggregatorFlags{app: a}
	c := &cobra.Command{
		Use:   "aggregator",
		Short: "serve tasks to data owners and train on their reports",
		Long: `Aggregator is the server of a federation. It accepts signed tasks from
operators and reports from data owners, trains on the sum of the reports, and
gives the model to readers. It never sees an owner's values.

To a task without a list of owners one certificate may bring at most
--owners-per-certificate owners, or as many as --relay declares for its name.

You may kill the aggregator at any moment, and several may share one PostgreSQL
database. It refuses to start on an old copy of --state, which lacks reports
that were acknowledged.

On --page it serves a page with the progress of the rounds, metrics for
Prometheus, and health checks. It has no TLS and no access control: choose an
address that only operators can reach.`,
		Example: `  discreet-net aggregator --certs certs --as aggregator/main --listen :8443 --state state.db --max-epsilon 2
  discreet-net aggregator --certs certs --as aggregator/main --listen :8443 \
    --state postgres://discreet@db/state --max-epsilon 1 --page 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return g.runAggregator(c.Context()) },
	}
	g.listener.addFlags(c, "aggregator/main", "the operators' page, metrics and health checks")
	c.Flags().StringVar(&g.state, "state", "",
		"the store of tasks and reports: a `file`, or postgres://user@host/database")
	c.Flags().StringVar(&g.epsilon, "max-epsilon", "", "the largest `ε` of a task to accept")
	c.Flags().IntVar(&g.each, "owners-per-certificate", aggregator.DefaultOwnersEach,
		"the `number` of owners that one certificate may bring to a task without a list of them")
	c.Flags().StringArrayVar(&g.relays, "relay", nil,
		"a different number of owners for the certificate owner/NAME, `NAME=NUMBER`; may be repeated")
	g.anchors.AddFlag(c)
	cli.Keeps(c, "state", cli.AggregatorTable)
	cli.Require(c, "state", "max-epsilon")
	return c
}

func (g *aggregatorFlags) runAggregator(ctx context.Context) (err error) {
	eps, err := dp.ParseEpsilon(g.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	relays, err := aggregator.ParseRelays(g.each, g.relays)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	self, err := g.loadIdentity()
	if err != nil {
		return err
	}
	folder, err := g.anchors.Folder()
	if err != nil {
		return err
	}
	st, err := store.At(ctx, g.state, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	log := g.newLogger()
	s, err := aggregator.New(ctx, aggregator.Params{Self: self, Store: st, MaxEpsilon: eps, OwnersEach: g.each,
		Relays: relays, Log: log, Now: commands.Clock})
	if err != nil {
		return commands.AsRefusal(err)
	}
	return g.serve(ctx, log, self, s.Handler(), s.Page(), s.Run)
}
