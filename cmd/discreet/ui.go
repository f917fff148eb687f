// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"io/fs"
	"net"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/explorer/serve"
	"github.com/discreet-dp/discreet/internal/explorer/web"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// ui holds the flags of the command.
type ui struct {
	*app
	listen, files, dataset, heldOut string
	ledger                          commands.LedgerFlag
}

func (a *app) newUICommand() *cobra.Command {
	u := &ui{app: a}
	c := &cobra.Command{
		Use:   "ui",
		Short: "open the explorer in a browser",
		Long: `Ui serves a page that declares a table, plans, trains and reads a model. Rows
stay in the page. With --ledger it charges each training, and each private evaluation to --held-out.`,
		Example: `  discreet ui
  discreet ui --ledger l.db --dataset patients --held-out patients-2027`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return u.serve(c) },
	}
	c.Flags().StringVar(&u.listen, "listen", "127.0.0.1:0", "`address` of this machine; port 0 is any")
	c.Flags().StringVar(&u.files, "files", "", "the `folder` of make explorer, if the engine is not built in")
	u.ledger.AddFlag(c)
	c.Flags().StringVar(&u.dataset, "dataset", "", "the `name` of the data set in the ledger")
	c.Flags().StringVar(&u.heldOut, "held-out", "", "the `name` of the held-out rows' data set in the ledger, which evaluations charge")
	cli.AddSection(c, commands.Counting, "ledger", "dataset", "held-out", "anchors")
	cli.Reads(c, "files")
	return c
}

func (u *ui) serve(c *cobra.Command) error {
	if (u.ledger.Address == "") != (u.dataset == "") {
		return cli.Refuse("ui", "ledger", "and dataset must be given together", nil)
	}
	if u.heldOut != "" && (u.ledger.Address == "" || u.heldOut == u.dataset) {
		return cli.Refuse("ui", "held-out", "must be another data set of the ledger", nil)
	}
	host, _, err := net.SplitHostPort(u.listen)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return cli.Refuse("ui", "listen", "must be an address of this machine alone, such as 127.0.0.1:8080", u.listen)
	}
	folders := []fs.FS{web.Files}
	if built := serve.BuiltIn(); built != nil {
		folders = append(folders, built)
	}
	if u.files != "" {
		folders = append([]fs.FS{openfile.Folder(u.files)}, folders...)
	}
	if u.ledger.Address == "" {
		return u.run(c.Context(), nil, folders)
	}
	return u.ledger.UseLedger(c.Context(), func(l *ledger.Ledger) error {
		for _, name := range []string{u.dataset, cmp.Or(u.heldOut, u.dataset)} {
			if _, err := l.Balances(c.Context(), name); err != nil {
				return err
			}
		}
		return u.run(c.Context(), &serve.Ledger{Ledger: l, Dataset: u.dataset, HeldOut: u.heldOut}, folders)
	})
}

func (u *ui) run(ctx context.Context, l *serve.Ledger, folders []fs.FS) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", u.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	s, err := serve.New(listener, l, folders...)
	if err != nil {
		return commands.AsRefusal(err)
	}
	u.Say("the explorer is at %s", s.Address())
	return s.Run(ctx, listener)
}
