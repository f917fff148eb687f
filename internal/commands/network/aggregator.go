// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/aggregator"
	"github.com/discreet-dp/discreet/internal/service/aggregator/store"
)

// aggregatorFlags is the flags of the command.
type aggregatorFlags struct {
	*app
	as
	anchors                      commands.AnchorsFlag
	listen, page, state, epsilon string
	each                         int
	relays                       []string
}

func (a *app) newAggregatorCommand() *cobra.Command {
	g := &aggregatorFlags{app: a}
	c := &cobra.Command{
		Use:   "aggregator",
		Short: "serve tasks to data owners and train on their reports",
		Long: `Aggregator is the data user's side of a federation. It takes signed tasks from
operators and reports from data owners, trains on what the reports add up to, and
gives the model to readers. It sees nobody's values: owners perturb at home.

If a task has no list of owners, anybody may make keys for it. So one certificate
brings at most --owners-per-certificate owners to such a task, or as many as
--relay declares for its name.

What it acknowledged is on disk. It may be killed at any moment, and several may
serve one PostgreSQL database. An old copy of --state, which has lost reports that
were acknowledged, is refused where a later one has run: --anchors remembers how
far it had come.

On --page it serves a page that shows how the rounds go, Prometheus' metrics, and
whether it is alive and ready. The page has no TLS and is open to everybody who
can reach it: give it an address that only operators reach.`,
		Example: `  discreet-net aggregator --certs certs --as aggregator/main --listen :8443 --state state.db --max-epsilon 2
  discreet-net aggregator --certs certs --as aggregator/main --listen :8443 \
    --state postgres://discreet@db/state --max-epsilon 1 --page 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return g.runAggregator(c.Context()) },
	}
	g.as.addFlags(c, "aggregator/main")
	c.Flags().StringVar(&g.listen, "listen", "", "the `address` to serve at, host:port")
	c.Flags().StringVar(&g.state, "state", "",
		"where to keep tasks and reports: a `file`, or postgres://user@host/database")
	c.Flags().StringVar(&g.epsilon, "max-epsilon", "", "the largest ε of a task that is taken, a `number`")
	c.Flags().StringVar(&g.page, "page", "",
		"the `address` of the operators' page, metrics and health; none when left out")
	c.Flags().IntVar(&g.each, "owners-per-certificate", aggregator.DefaultOwnersEach,
		"the `number` of owners that one certificate may bring to a task without a list of them")
	c.Flags().StringArrayVar(&g.relays, "relay", nil,
		"another number of owners for the certificate owner/NAME, `NAME=NUMBER`; may be repeated")
	g.anchors.AddFlag(c)
	cli.AddSection(c, connection, "listen", "page")
	cli.Keeps(c, "state", cli.AggregatorTable)
	cli.Require(c, "listen", "state", "max-epsilon")
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
	calls := &http.Server{Handler: s.Handler(), TLSConfig: self.Server()}
	services := []*service{{calls, g.listen, true}}
	if g.page != "" {
		services = append(services, &service{&http.Server{Handler: s.Page()}, g.page, false})
	}
	return serveAll(ctx, log, self, s.Run, services)
}
