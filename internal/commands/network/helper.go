// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/service/helper"
)

// helperFlags is the flags of the command.
type helperFlags struct {
	*app
	as
	anchors             commands.AnchorsFlag
	listen, page, store string
}

func (a *app) newHelperCommand() *cobra.Command {
	h := &helperFlags{app: a}
	c := &cobra.Command{
		Use:   "helper",
		Short: "hold shares of secret sums",
		Long: `Helper is one of the three or more processes that keep a secret sum secret. It
holds one share of each participant's vector, which alone says nothing. It gives
out the sum of the shares that the sum's collector names, once. Each helper must
be run by somebody else: two thirds of them together can open everything.

What it acknowledged is on disk, and so is its answer before it is sent. It may
be killed at any moment. Never put an old copy of --store back: it has forgotten
what it has answered, and is refused where --anchors remembers a later one. With
a new store it takes part in new sums only; the other helpers finish the earlier
ones.

On --page it serves Prometheus' metrics and whether it is alive and ready,
without TLS and to everybody who can reach it.`,
		Example: `  discreet-net helper --certs certs --as helper/two --listen :8445 --store two.db`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return h.runHelper(c.Context()) },
	}
	h.as.addFlags(c, "helper/two")
	c.Flags().StringVar(&h.listen, "listen", "", "the `address` to serve at, host:port")
	c.Flags().StringVar(&h.store, "store", "", "the `file` to keep shares and answers in; made where there is none")
	c.Flags().StringVar(&h.page, "page", "", "the `address` of metrics and health; none when left out")
	h.anchors.AddFlag(c)
	cli.AddSection(c, connection, "listen", "page")
	cli.Keeps(c, "store", cli.HelperTable)
	cli.Require(c, "listen", "store")
	return c
}

func (h *helperFlags) runHelper(ctx context.Context) (err error) {
	self, err := h.loadIdentity()
	if err != nil {
		return err
	}
	folder, err := h.anchors.Folder()
	if err != nil {
		return err
	}
	st, err := helper.At(ctx, h.store, self.Name, folder)
	if err != nil {
		return commands.AsRefusal(err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	log := h.newLogger()
	s, err := helper.New(helper.Params{Self: self, Store: st, Log: log, Now: commands.Clock})
	if err != nil {
		return commands.AsRefusal(err)
	}
	services := []*service{{&http.Server{Handler: s.Handler(), TLSConfig: self.Server()}, h.listen, true}}
	if h.page != "" {
		services = append(services, &service{&http.Server{Handler: s.Page()}, h.page, false})
	}
	return serveAll(ctx, log, self, s.Run, services)
}
