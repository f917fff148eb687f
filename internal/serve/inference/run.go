// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// Place is the address at which a server listens, and its protection.
type Place struct {
	Address   string // host:port
	Cert, Key string // PEM files; both or neither
	Plain     bool   // allows other machines without TLS or without tokens
}

// Check refuses an invalid place, without reading its files. An address that other machines can reach
// requires TLS and tokens, or Plain.
func (p *Place) Check(tokens bool) error {
	host, _, err := net.SplitHostPort(p.Address)
	if err != nil {
		return dp.Refuse("serve", "listen", "must be host:port", p.Address)
	}
	if (p.Cert == "") != (p.Key == "") {
		return dp.Refuse("serve", "tls", "must have a certificate and a key", nil)
	}
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	if !local && !p.Plain && (p.Cert == "" || !tokens) {
		return &dp.ParamError{Op: "serve", Param: "listen", Got: p.Address,
			Want: "must be a local address unless TLS and tokens are given",
			Next: dp.Step{Kind: dp.SecureServer}}
	}
	return nil
}

// Listen opens a place that Check accepts.
func (p *Place) Listen(ctx context.Context, tokens bool) (net.Listener, error) {
	if err := p.Check(tokens); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", p.Address)
	if err != nil || p.Cert == "" {
		return l, err
	}
	// Read again for each connection: certificates are replaced while models are served.
	c := &certificate{patience: time.Second,
		read: func() (*tls.Certificate, error) { return ReadCertificate(p.Cert, p.Key) }}
	first, err := c.read()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve: certificate: %w", err), l.Close())
	}
	c.last.Store(first)
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(), nil },
	}), nil
}

// ReadTokens reads a file of tokens, one per line. It skips lines that are empty or begin with #. A
// token must have at least 16 characters.
func ReadTokens(path string) (tokens []string, err error) {
	if path == "" {
		return nil, nil
	}
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, fmt.Errorf("serve: tokens: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		token := strings.TrimSpace(lines.Text())
		switch {
		case token == "" || token[0] == '#':
		case len(token) < 16 || strings.ContainsAny(token, " \t"):
			return nil, dp.Refuse("serve", fmt.Sprintf("tokens line %d", n), "must be 16 characters or more without spaces",
				nil)
		default:
			tokens = append(tokens, token)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("serve: tokens: %w", err)
	}
	if len(tokens) == 0 {
		return nil, dp.Refuse("serve", "tokens", "must be in the file, one a line", nil)
	}
	return tokens, nil
}

// Run reads the models and serves them at a place until ctx ends; see Serve. It checks for replaced
// files every second, and limits the process's memory to what it used before the first request plus
// the memory for requests.
func Run(ctx context.Context, o Options, p Place) error {
	s, err := New(o)
	if err != nil {
		return err
	}
	l, err := p.Listen(ctx, len(o.Tokens) > 0)
	if err != nil {
		return err
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT goes first
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		debug.SetMemoryLimit(int64(now.Sys) + o.Memory)
	}
	o.Log.Info("serving", "address", l.Addr().String(), "tls", p.Cert != "")
	look := time.NewTicker(time.Second)
	defer look.Stop()
	return s.Serve(ctx, l, look.C)
}

const (
	// drain is how long requests may take to finish when the server stops. leave is the limit for
	// everything else, before the process ends without waiting.
	drain = 10 * time.Second
	leave = 2 * time.Second
	// maxConnections is the largest number of open connections, and maxHeader the largest size of a
	// request's headers in bytes.
	maxConnections = 1024
	maxHeader      = 8 << 10
	// maxStreams is the largest number of simultaneous calls per HTTP/2 connection, and streamBuffer
	// how many bytes of each are received before they are read.
	maxStreams   = 64
	streamBuffer = 32 << 10
)

// Serve answers on l until ctx ends, then lets requests finish and returns nil. It checks for replaced
// models at each tick, and never waits for a file.
func (s *Server) Serve(ctx context.Context, l net.Listener, ticks <-chan time.Time) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler: s.Handler(), Protocols: protocols, ConnState: newConnections(maxConnections).note,
		// A deadline on every wait: a client that says nothing holds nothing.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		// What waits for its turn waits at the sender, and holds up no other call of its connection.
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxStreams * streamBuffer,
			MaxReceiveBufferPerStream: streamBuffer, MaxDecoderHeaderTableSize: 1 << 12, PingTimeout: 15 * time.Second,
			SendPingTimeout: 30 * time.Second},
		ErrorLog: s.opts.Faults,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-ticks:
			go s.Reload()
		case <-ctx.Done():
			s.Stop()
			end, stop := context.WithTimeout(context.WithoutCancel(ctx), drain)
			defer stop()
			err := server.Shutdown(end)
			if err != nil {
				err = errors.Join(err, server.Close()) // past the time, connections are cut
			}
			<-ended
			return err
		}
	}
}

// RunUntil runs work. Once ctx has ended, it waits as long as open requests may take.
func RunUntil(ctx context.Context, work func(context.Context) error) error {
	return runUntil(ctx, work, drain+leave)
}

// runUntil is RunUntil with another patience.
func runUntil(ctx context.Context, work func(context.Context) error, patience time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- work(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return errors.New("serve: a file that cannot be read now was not waited for")
	}
}
