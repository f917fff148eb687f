// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Identity is one caller's certificate and key, with the authorities it trusts and their revocation
// lists. After Load it follows its files: each handshake, call and signature uses their current
// content.
type Identity struct {
	Caller
	dir string // folder of the files; "" if there are none

	mu    sync.Mutex
	held  *held
	seen  seen  // state of the files when they were last read
	fault error // why the current content of the files is not used
}

// CheckRole refuses, for the operation op, an identity of another role, and none at all.
func (id *Identity) CheckRole(op string, role Role) error {
	switch {
	case id == nil:
		return dp.Refuse(op, "certificate", "must be given", nil)
	case id.Role != role:
		return dp.Refuse(op, "certificate", "must be of the role "+string(role), id.Caller)
	}
	return nil
}

// held is the content of an identity's files. It is read-only.
type held struct {
	cert        *x509.Certificate
	key         *ecdsa.PrivateKey
	authorities []*x509.Certificate
	lists       []list
}

// Server returns the TLS configuration of a listener: every client must have a certificate of an
// authority with exactly one role.
func (i *Identity) Server() *tls.Config {
	c := i.config(i.currentFiles())
	// A listener keeps its settings; each connection gets those of its time.
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		h := i.currentFiles()
		c := i.config(h)
		c.NextProtos = []string{"h2", "http/1.1"} // net/http tells the listener's settings alone
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, h.pool()
		c.VerifyConnection = func(s tls.ConnectionState) error {
			_, err := i.Peer(&s)
			return err
		}
		return c, nil
	}
	return c
}

// Client returns the TLS configuration of connections to servers with the role. A certificate of the
// same authority with another role, such as an owner's, is refused.
func (i *Identity) Client(server Role) *tls.Config {
	return i.client(func(who Caller) bool { return who.Role == server }, "the role "+string(server))
}

// ClientOf is Client for one particular server.
func (i *Identity) ClientOf(server Caller) *tls.Config {
	return i.client(func(who Caller) bool { return who == server }, server.String())
}

func (i *Identity) client(wanted func(Caller) bool, words string) *tls.Config {
	h := i.currentFiles()
	c := i.config(h)
	c.RootCAs = h.pool()
	c.VerifyConnection = func(s tls.ConnectionState) error {
		who, err := i.Peer(&s)
		if err == nil {
			err = checkUse(s.VerifiedChains[0][0], x509.ExtKeyUsageServerAuth)
		}
		if err != nil {
			return &wrongServerError{err}
		}
		if !wanted(who) {
			return &wrongServerError{fmt.Errorf("the server is %s, want %s", who, words)}
		}
		return nil
	}
	return c
}

func (i *Identity) config(h *held) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{h.cert.Raw}, PrivateKey: h.key, Leaf: h.cert}},
	}
}

// ErrStale marks a certificate that was valid when its connection began and is no longer. The caller
// may connect again with another certificate.
var ErrStale = errors.New("identity: the certificate does not hold any more")

// Peer returns the caller of a connection whose certificates TLS has verified. It checks the
// certificate against the time, the authorities and the revocation lists of now, not those from the
// beginning of the connection.
func (i *Identity) Peer(s *tls.ConnectionState) (Caller, error) {
	if s == nil || len(s.VerifiedChains) == 0 {
		return Caller{}, errors.New("identity: the connection shows no certificate of the authority")
	}
	who, err := callerOf(s.VerifiedChains[0][0])
	if err == nil {
		err = checkUse(s.VerifiedChains[0][0], x509.ExtKeyUsageClientAuth)
	}
	if err != nil {
		return Caller{}, err
	}
	if err := i.currentFiles().holds(s.VerifiedChains, time.Now()); err != nil {
		return who, fmt.Errorf("%w: %s: %w", ErrStale, who, err)
	}
	return who, nil
}

// holds refuses a certificate unless one of its chains is valid at a time.
func (h *held) holds(chains [][]*x509.Certificate, at time.Time) (err error) {
	for _, chain := range chains {
		if err = h.good(chain, at); err == nil {
			return nil
		}
	}
	return err
}

func (h *held) good(chain []*x509.Certificate, at time.Time) error {
	if !slices.ContainsFunc(h.authorities, chain[len(chain)-1].Equal) {
		return errors.New("its authority is not trusted any more")
	}
	for k, cert := range chain {
		if at.After(cert.NotAfter) {
			return fmt.Errorf("it ended at %s", stamp(cert.NotAfter))
		}
		if k == len(chain)-1 {
			break
		}
		for _, l := range h.lists {
			if err := l.checkRevoked(cert, chain[k+1], at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *held) pool() *x509.CertPool {
	p := x509.NewCertPool()
	for _, a := range h.authorities {
		p.AddCert(a)
	}
	return p
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
