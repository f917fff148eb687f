// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/operator"
)

// Titles of sections of flags that several commands have.
const (
	connection = "Connection"
	secretSums = "Secret sums"
)

// as holds the identity of a process of a federation: its folder and its name.
type as struct{ dir, caller string }

func (f *as) addFlags(c *cobra.Command, example string) {
	c.Flags().StringVar(&f.dir, "certs", "", "the `directory` of certificates, as certs makes it")
	c.Flags().StringVar(&f.caller, "as", "", "the certificate's role and name, `ROLE/NAME`, e.g. "+example)
	cli.Reads(c, "certs")
	cli.AddSection(c, connection, "certs", "as")
	cli.Require(c, "certs", "as")
}

func (f *as) loadIdentity() (*identity.Identity, error) {
	role, name, _ := strings.Cut(f.caller, "/")
	id, err := identity.Load(f.dir, identity.Caller{Role: identity.Role(role), Name: name})
	return id, commands.AsRefusal(err)
}

// watchCertificate logs the renewal and the expiry of a certificate until done is called.
func watchCertificate(ctx context.Context, self *identity.Identity, log *slog.Logger) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { self.Watch(ctx, log, nil) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// remote holds the flags of a command that calls an aggregator.
type remote struct {
	as
	server string
}

func (f *remote) addFlags(c *cobra.Command, example string) {
	f.as.addFlags(c, example)
	c.Flags().StringVar(&f.server, "server", "", "the aggregator's `address`, https://host:port")
	cli.AddSection(c, connection, "server")
	cli.Require(c, "server")
}

func (f *remote) dialAggregator() (*operator.Client, error) {
	if err := operator.CheckAddress(f.server); err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	id, err := f.loadIdentity()
	if err != nil {
		return nil, err
	}
	return operator.NewClient(f.server, id)
}

// dialTask is dialAggregator for a command about one task.
func (f *remote) dialTask(text string) (client *operator.Client, id wire.Digest, err error) {
	if id, err = operator.ParseTaskID(text); err != nil {
		return nil, id, &cli.UsageError{Err: err}
	}
	client, err = f.dialAggregator()
	return client, id, err
}

// newLogger returns the logger of a long-running process, which writes lines of JSON.
func (a *app) newLogger() *slog.Logger { return slog.New(slog.NewJSONHandler(a.Stderr, nil)) }
