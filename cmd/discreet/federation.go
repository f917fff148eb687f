// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/problem"
	"github.com/discreet-dp/discreet/internal/service/rpc"
)

// Titles of sections of flags that several commands have.
const (
	connection = "Connection"
	secretSums = "Secret sums"
	counting   = "Counting what is spent"
)

// as is who a process of a federation is.
type as struct{ dir, caller string }

func (f *as) addFlags(c *cobra.Command, example string) {
	c.Flags().StringVar(&f.dir, "certs", "", "the `directory` of certificates, as certs makes it")
	c.Flags().StringVar(&f.caller, "as", "", "whose certificate it is, `ROLE/NAME`, e.g. "+example)
	cli.AddSection(c, connection, "certs", "as")
	cli.Require(c, "certs", "as")
}

func (f *as) loadIdentity() (*identity.Identity, error) {
	role, name, _ := strings.Cut(f.caller, "/")
	id, err := identity.Load(f.dir, identity.Caller{Role: identity.Role(role), Name: name})
	return id, asRefusal(err)
}

// watchCertificate tells the log what becomes of a certificate until done is called.
func watchCertificate(ctx context.Context, self *identity.Identity, log *slog.Logger) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { self.Watch(ctx, log, nil) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// remote is an aggregator that a command talks to.
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

// checkAddress refuses what is not one: a connection without TLS would say who asks
// for what to everybody between.
func (f *remote) checkAddress() error {
	u, err := url.Parse(f.server)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return &dp.ParamError{Op: "federation", Param: "server", Want: "must look like https://host:port", Got: f.server}
	}
	return nil
}

func (f *remote) dialAggregator() (rpc.AggregatorClient, *identity.Identity, error) {
	if err := f.checkAddress(); err != nil {
		return nil, nil, &cli.UsageError{Err: err}
	}
	id, err := f.loadIdentity()
	if err != nil {
		return nil, nil, err
	}
	client := id.HTTPClient(identity.Aggregator)
	client.Timeout = time.Minute
	return rpc.NewAggregatorClient(client, f.server, connect.WithReadMaxBytes(2*wire.MaxText)), id, nil
}

// explainAnswer turns a refusal of the aggregator into words.
func explainAnswer(err error) error {
	if err == nil {
		return nil
	}
	if p := problem.Of(err); p.Kind != problem.Internal {
		return fmt.Errorf("the aggregator refuses: %w", p)
	}
	return fmt.Errorf("asking the aggregator: %w", problem.Named(err))
}

// taskID reads a task's name.
func taskID(text string) (id wire.Digest, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, cli.Refuse("federation", "task",
			fmt.Sprintf("must be %d hexadecimal digits, as task create prints them", 2*len(id)), text)
	}
	return wire.Digest(b), nil
}

// newLogger writes structured lines about what a long-running process does.
func (a *app) newLogger() *slog.Logger { return slog.New(slog.NewTextHandler(a.Stderr, nil)) }
