// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"
)

// MisfitError is the reason why two processes cannot work together, now or later: the server or the
// caller has the wrong identity, or the server redirects the caller. A certificate, an address or a
// clock must be changed first.
type MisfitError struct {
	Server string // host:port
	Err    error
}

func (e *MisfitError) Error() string { return e.Server + ": " + e.Err.Error() }

func (e *MisfitError) Unwrap() error { return e.Err }

const (
	// connectTime is the longest time for establishing a connection, including its handshake.
	connectTime = 30 * time.Second
	idleTime    = time.Minute
	// A network may drop packets without notice: a connection is probed after this silence, and
	// replaced if there is no answer.
	silence, answerTime = 10 * time.Second, 5 * time.Second
)

// HTTPClient makes a client for calls to any server with the role. It connects as Dial does and
// follows no redirect: reports, votes and shares are for the process whose certificate was checked.
// Failures that retries cannot fix are *MisfitError.
func (i *Identity) HTTPClient(server Role) *http.Client { return i.httpClient(i.Dial(server)) }

// HTTPClientOf is HTTPClient for one particular server.
func (i *Identity) HTTPClientOf(server Caller) *http.Client {
	return i.httpClient(newDialer(func() *tls.Config { return i.ClientOf(server) }))
}

func (i *Identity) httpClient(d Dialer) *http.Client {
	return &http.Client{Transport: &transport{self: i, dial: d, Transport: &http.Transport{
		DialTLSContext: d, ForceAttemptHTTP2: true, IdleConnTimeout: idleTime,
		HTTP2: &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: answerTime},
	}}}
}

// Dialer makes connections, as http.Transport.DialTLSContext does.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Dial connects to any server with the role. Each connection uses the current certificate and
// authorities, and ends no later than the certificate. A wrong server and an expired certificate are
// *MisfitError.
func (i *Identity) Dial(server Role) Dialer {
	return newDialer(func() *tls.Config { return i.Client(server) })
}

func newDialer(settings func() *tls.Config) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c := settings()
		c.NextProtos = []string{"h2", "http/1.1"}
		ends := c.Certificates[0].Leaf.NotAfter
		if time.Now().After(ends) {
			return nil, &MisfitError{address, fmt.Errorf("the caller's own certificate ended at %s", stamp(ends))}
		}
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: connectTime}, Config: c}
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, nameFailure(address, err)
		}
		// Whoever is renewed connects again with the new certificate in time.
		if err := conn.SetDeadline(ends); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
}

// transport refuses redirects to another process than the one that was checked.
type transport struct {
	self     *Identity
	dial     Dialer
	answered atomic.Bool // the server has accepted the caller's certificate
	*http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, &MisfitError{r.URL.Host, errors.New("must be called by https")}
	}
	answer, err := t.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(),
		&httptrace.ClientTrace{GotConn: t.judgeConnection})))
	if err != nil {
		if !t.answered.Load() && findMisfit(err) == nil && r.Context().Err() == nil {
			err = cmp.Or(t.listenForRefusal(r), err)
		}
		return nil, nameFailure(r.URL.Host, err)
	}
	t.answered.Store(true)
	if answer.StatusCode >= 300 && answer.StatusCode < 400 {
		answer.Body.Close()
		return nil,
			&MisfitError{r.URL.Host,
				fmt.Errorf("the server answers with a redirect (HTTP %d), and redirects are not followed: call the server itself",
					answer.StatusCode)}
	}
	return answer, nil
}

// judgeConnection closes a connection whose server has been revoked since it was opened. The call uses
// a new connection, whose handshake gives the reason for the failure.
func (t *transport) judgeConnection(g httptrace.GotConnInfo) {
	if c, ok := g.Conn.(*tls.Conn); ok && g.Reused {
		s := c.ConnectionState()
		if _, err := t.self.Peer(&s); err != nil {
			c.Close()
		}
	}
}

// listenForRefusal connects and sends nothing, to find out whether the server accepts the caller's
// certificate. Under TLS 1.3 a server refuses it after the handshake, and a client that has begun to
// send may see only a closed connection. It returns nil if the server does not refuse.
func (t *transport) listenForRefusal(r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	c, err := t.dial(ctx, "tcp", net.JoinHostPort(r.URL.Hostname(), cmp.Or(r.URL.Port(), "443")))
	if err == nil {
		defer c.Close()
		if err = c.SetReadDeadline(time.Now().Add(answerTime)); err == nil {
			_, err = c.Read(make([]byte, 1)) // of HTTP/2, in which servers speak first
		}
	}
	if findMisfit(err) == nil {
		return nil
	}
	return err
}

// nameFailure extracts from a failed handshake the cause related to certificates.
func nameFailure(server string, err error) error {
	if why := findMisfit(err); why != nil && !errors.As(err, new(*MisfitError)) {
		return &MisfitError{server, why}
	}
	return err
}

// findMisfit returns the cause of an error if it is related to certificates, nil otherwise.
func findMisfit(err error) error {
	if known := (*MisfitError)(nil); errors.As(err, &known) {
		return known
	}
	if wrong := (*wrongServerError)(nil); errors.As(err, &wrong) {
		return wrong
	}
	if errors.Is(err, ErrStale) {
		return err
	}
	if bad := (*tls.CertificateVerificationError)(nil); errors.As(err, &bad) {
		if expired := (x509.CertificateInvalidError{}); errors.As(bad, &expired) && expired.Reason == x509.Expired {
			return fmt.Errorf("the server's certificate is valid from %s to %s, and not now", stamp(expired.Cert.NotBefore),
				stamp(expired.Cert.NotAfter))
		}
		if errors.As(bad, new(x509.UnknownAuthorityError)) {
			return errors.New("the server's certificate is of another authority than the caller's")
		}
		return fmt.Errorf("the server's certificate: %w", bad.Err)
	}
	if alert := (*net.OpError)(nil); errors.As(err, &alert) && alert.Op == "remote error" &&
		slices.Contains(certificateAlerts, alert.Err.Error()) {
		return fmt.Errorf("the server does not take the caller's certificate: %w", alert.Err)
	}
	return nil
}

// certificateAlerts are the texts of TLS's alerts about certificates (RFC 8446, 6.2).
var certificateAlerts = func() (words []string) {
	const bad, unsupported, revoked, expired, unknown, unknownAuthority, denied, required = 42, 43, 44, 45, 46, 48, 49, 116
	for _, a := range []tls.AlertError{bad, unsupported, revoked, expired, unknown, unknownAuthority, denied, required} {
		words = append(words, a.Error())
	}
	return words
}()

// wrongServerError reports a server of our authority that is not the one called.
type wrongServerError struct{ err error }

func (e *wrongServerError) Error() string { return e.err.Error() }
