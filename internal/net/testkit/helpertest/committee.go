// SPDX-License-Identifier: Apache-2.0

// Package helpertest provides committees of helpers for tests. They run on loopback over mutual TLS,
// and can be killed and started again.
package helpertest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/helper"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// Committee is a set of helpers h0, h1, ..., each with its own store and address.
type Committee struct {
	t         testing.TB
	log       *slog.Logger
	authority *identity.Authority
	members   []*member
	Ahead     atomic.Int64 // how far the helpers' clocks are ahead of the system's
	// Wrap wraps a helper's handler when it is started; nil: no wrapping.
	Wrap func(helper int, h http.Handler) http.Handler
}

type member struct {
	name, store, address string
	stop                 func() // nil while it is not running
}

// New starts helpers whose certificates the authority signs. They stop at the end of the test.
func New(t testing.TB, log *slog.Logger, authority *identity.Authority, helpers int) *Committee {
	t.Helper()
	c := &Committee{t: t, log: log, authority: authority}
	for h := range helpers {
		l, err := net.Listen("tcp", "127.0.0.1:0") // an address to come back to
		c.must(err)
		c.members = append(c.members,
			&member{name: fmt.Sprintf("h%d", h), store: filepath.Join(t.TempDir(), "store.db"), address: l.Addr().String()})
		c.must(l.Close())
		c.Start(h)
	}
	t.Cleanup(func() {
		for h := range c.members {
			c.Kill(h)
		}
	})
	return c
}

func (c *Committee) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// Identity returns a certificate with a role and a name.
func (c *Committee) Identity(role identity.Role, name string) *identity.Identity {
	c.t.Helper()
	id, err := c.authority.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1"}, time.Now(), 12*time.Hour)
	c.must(err)
	return id
}

// Name returns the name of a helper.
func (c *Committee) Name(h int) string { return c.members[h].name }

// Address returns the address of a helper, https://host:port.
func (c *Committee) Address(h int) string { return "https://" + c.members[h].address }

// Store returns the path of a helper's store.
func (c *Committee) Store(h int) string { return c.members[h].store }

// Start starts a stopped helper with its store and address.
func (c *Committee) Start(h int) {
	c.t.Helper()
	m := c.members[h]
	st, err := helper.At(context.Background(), m.store, m.name, "")
	c.must(err)
	self := c.Identity(identity.Helper, m.name)
	s, err := helper.New(helper.Params{Self: self, Store: st, Log: c.log,
		Now: func() time.Time { return time.Now().Add(time.Duration(c.Ahead.Load())) }})
	c.must(err)
	handler := s.Handler()
	if c.Wrap != nil {
		handler = c.Wrap(h, handler)
	}
	l, err := net.Listen("tcp", m.address)
	c.must(err)
	server := httptest.NewUnstartedServer(handler)
	c.must(server.Listener.Close())
	server.Listener, server.TLS, server.EnableHTTP2 = l, self.Server(), true
	server.StartTLS()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) }) // it returns nil
	m.stop = func() {
		server.CloseClientConnections()
		cancel()
		server.Close()
		wg.Wait()
		c.must(st.Close())
	}
}

// Kill stops a helper and aborts its running calls. Everything that it acknowledged is on its disk.
func (c *Committee) Kill(h int) {
	if m := c.members[h]; m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// Lose deletes the store of a helper, which must be stopped.
func (c *Committee) Lose(h int) {
	c.t.Helper()
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(c.members[h].store + end); err != nil && !os.IsNotExist(err) {
			c.t.Fatal(err)
		}
	}
}

// Up returns the number of running helpers.
func (c *Committee) Up() (n int) {
	for _, m := range c.members {
		if m.stop != nil {
			n++
		}
	}
	return n
}

// Meet asks helpers for the names of their stores, once; helpers that do not answer have none.
func Meet(ctx context.Context, clients []*secretsum.Client) []secretsum.Helper {
	out := make([]secretsum.Helper, len(clients))
	var asking sync.WaitGroup
	for h, c := range clients {
		asking.Go(func() {
			out[h].Name = c.Name()
			out[h].Memory, _ = c.Self(ctx)
		})
	}
	asking.Wait()
	return out
}

// Meet asks all helpers for the names of their stores until the running ones have answered.
func (c *Committee) Meet(clients []*secretsum.Client) []secretsum.Helper {
	c.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(c.t.Context(), 500*time.Millisecond) // for those that do not serve
		helpers := Meet(ctx, clients)
		cancel()
		if secretsum.Present(helpers) == c.Up() {
			return helpers
		}
		c.must(c.t.Context().Err())
	}
}

// Clients returns clients that call the helpers with an identity.
func (c *Committee) Clients(as *identity.Identity) (out []*secretsum.Client) {
	c.t.Helper()
	for h := range c.members {
		client := secretsum.Dial(as, c.Name(h), c.Address(h), c.log)
		c.t.Cleanup(client.Close)
		out = append(out, client)
	}
	return out
}
