// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/service/helper"
)

// helperFlags holds the flags of the command.
type helperFlags struct {
	*app
	listener
	anchors commands.AnchorsFlag
	store   string
}

func (a *app) newHelperCommand() *cobra.Command {
	h := &helperFlags{app: a}
	c := &cobra.Command{
		Use:   "helper",
		Short: "hold shares of secret sums",
		Long: `Helper is one of three or more processes that keep a secret sum secret. It holds
one share of each participant's vector; a single share reveals nothing. It
releases, once, the sum of the shares that the sum's collector names. Each
helper must be run by a different organisation, because two thirds of the
helpers together can open everything.

You may kill it at any moment. Never restore an old copy of --store: the copy
does not contain the answers that were given since. It is refused if --anchors
records a later state. With a new store the helper takes part in new sums only.

On --page it serves metrics for Prometheus and health checks, without TLS and
without access control.`,
		Example: `  discreet-net helper --certs certs --as helper/two --listen :8445 --store two.db`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return h.runHelper(c.Context()) },
	}
	h.listener.addFlags(c, "helper/two", "metrics and health checks")
	c.Flags().StringVar(&h.store, "store", "", "the `file` for shares and answers; created if it does not exist")
	h.anchors.AddFlag(c)
	cli.Keeps(c, "store", cli.HelperTable)
	cli.Require(c, "store")
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
	return h.serve(ctx, log, self, s.Handler(), s.Page(), s.Run)
}
