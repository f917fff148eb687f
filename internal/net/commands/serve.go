// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// listener holds the flags of a process that others call.
type listener struct {
	as
	listen, page string
}

// addFlags adds the flags; pages describes what --page serves.
func (f *listener) addFlags(c *cobra.Command, example, pages string) {
	f.as.addFlags(c, example)
	c.Flags().StringVar(&f.listen, "listen", "", "the `address` to serve at, host:port")
	c.Flags().StringVar(&f.page, "page", "", "the `address` for "+pages+" (default none)")
	cli.AddConfig(c)
	cli.AddSection(c, connection, "listen", "page")
	cli.Require(c, "listen")
}

// serve is serveAll for calls and the page.
func (f *listener) serve(ctx context.Context, log *slog.Logger, self *identity.Identity, calls, page http.Handler,
	work func(context.Context) error) error {
	services := []*service{{&http.Server{Handler: calls, TLSConfig: self.Server()}, f.listen, true}}
	if f.page != "" {
		services = append(services, &service{&http.Server{Handler: page}, f.page, false})
	}
	return serveAll(ctx, log, self, work, services)
}

// service is one listener.
type service struct {
	server  *http.Server
	address string
	tls     bool
}

// drain is how long open calls may take to finish when a process stops.
const drain = 10 * time.Second

// serveAll listens at all addresses and runs the work behind them until ctx ends
// or one of them fails. SIGHUP makes it read its certificates again.
func serveAll(ctx context.Context, log *slog.Logger, self *identity.Identity, work func(context.Context) error,
	services []*service) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)
	var wg sync.WaitGroup
	wg.Go(func() { self.Watch(ctx, log, again) })
	var mu sync.Mutex
	var failed error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
		cancel()
	}
	for _, s := range services {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
		if err != nil {
			fail(err)
			break
		}
		log.Info("serving", "address", l.Addr().String(), "tls", s.tls)
		// A deadline on every wait: a client that says nothing holds nothing.
		s.server.ReadHeaderTimeout, s.server.ReadTimeout = 10*time.Second, time.Minute
		s.server.WriteTimeout, s.server.IdleTimeout = time.Minute, 2*time.Minute
		s.server.MaxHeaderBytes = 1 << 16
		// What waits for its turn waits at the sender: a thousand connections must
		// not fill the memory with what no one reads yet.
		s.server.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams: 32, MaxReceiveBufferPerConnection: 1 << 16, MaxReceiveBufferPerStream: 1 << 16,
			SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second,
		}
		s.server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
		wg.Go(func() {
			var err error
			if s.tls {
				err = s.server.ServeTLS(l, "", "")
			} else {
				err = s.server.Serve(l)
			}
			if !errors.Is(err, http.ErrServerClosed) {
				fail(err)
			}
		})
	}
	wg.Go(func() {
		if err := work(ctx); err != nil {
			fail(err)
		}
	})
	<-ctx.Done()
	for _, s := range services {
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), drain)
		_ = s.server.Shutdown(end) // past the time, connections are cut: clients try again
		stop()
	}
	wg.Wait()
	return failed
}
