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

// MisfitError is why two processes cannot work together, now or later: the server
// or the caller is not who the other end wants, or the server sends the caller
// elsewhere. Somebody must change a certificate, an address or a clock first.
type MisfitError struct {
	Server string // host:port
	Err    error
}

func (e *MisfitError) Error() string { return e.Server + ": " + e.Err.Error() }

func (e *MisfitError) Unwrap() error { return e.Err }

const (
	// connectTime is the longest time that a connection may take to stand, its handshake included.
	connectTime = 30 * time.Second
	idleTime    = time.Minute
	// A network that swallows packets says nothing: ask after so long a silence, and
	// connect again without an answer.
	silence, answerTime = 10 * time.Second, 5 * time.Second
)

// HTTPClient makes the client of every call to anyone who has the role. It connects as
// Dial does and follows no redirect: reports, votes and shares are for the process
// whose certificate was checked. What trying again cannot mend is a *MisfitError.
func (i *Identity) HTTPClient(server Role) *http.Client { return i.httpClient(i.Dial(server)) }

// HTTPClientOf is HTTPClient for one server among those of its role.
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

// Dial connects to anyone who has the role: each connection with the certificate and
// the authorities of its time, and none beyond the certificate's end. A server that
// is not the one, and a certificate that has ended, are a *MisfitError.
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

// transport refuses what leads to another process than the one that was checked.
type transport struct {
	self     *Identity
	dial     Dialer
	answered atomic.Bool // the server has taken the caller's certificate
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

// judgeConnection ends a connection whose server was revoked while it stood. The call goes over
// another, whose handshake says why it cannot.
func (t *transport) judgeConnection(g httptrace.GotConnInfo) {
	if c, ok := g.Conn.(*tls.Conn); ok && g.Reused {
		s := c.ConnectionState()
		if _, err := t.self.Peer(&s); err != nil {
			c.Close()
		}
	}
}

// listenForRefusal connects and says nothing, to hear whether the server takes the caller's
// certificate: under TLS 1.3 it says so after the handshake, when anyone who has begun
// to send may find the connection gone and nothing else. It returns nil if the
// server says nothing of that kind.
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

// nameFailure makes of a failed handshake what it says about certificates.
func nameFailure(server string, err error) error {
	if why := findMisfit(err); why != nil && !errors.As(err, new(*MisfitError)) {
		return &MisfitError{server, why}
	}
	return err
}

// findMisfit is what an error says about certificates, nil if it is something else.
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

// certificateAlerts are the words of TLS's alerts about a certificate (RFC 8446, 6.2).
var certificateAlerts = func() (words []string) {
	const bad, unsupported, revoked, expired, unknown, unknownAuthority, denied, required = 42, 43, 44, 45, 46, 48, 49, 116
	for _, a := range []tls.AlertError{bad, unsupported, revoked, expired, unknown, unknownAuthority, denied, required} {
		words = append(words, a.Error())
	}
	return words
}()

// wrongServerError is a server of our authority that is another than was called.
type wrongServerError struct{ err error }

func (e *wrongServerError) Error() string { return e.err.Error() }
