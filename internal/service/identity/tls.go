// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// Identity is one caller's certificate and key, with the authority it trusts.
type Identity struct {
	Caller
	cert      *x509.Certificate
	key       *ecdsa.PrivateKey
	authority *x509.Certificate
}

// Server is the settings of a listener: every client shows a certificate of the
// authority that names one role.
func (i *Identity) Server() *tls.Config {
	c := i.config()
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.ClientCAs = i.pool()
	c.VerifyConnection = func(s tls.ConnectionState) error {
		_, err := Of(&s)
		return err
	}
	return c
}

// Client is the settings of a caller of the server that has the role: another
// certificate of the same authority, say an owner's, does not serve in its place.
func (i *Identity) Client(server Role) *tls.Config {
	return i.client(func(who Caller) bool { return who.Role == server }, "the role "+string(server))
}

// ClientOf is Client for one server among those of its role.
func (i *Identity) ClientOf(server Caller) *tls.Config {
	return i.client(func(who Caller) bool { return who == server }, server.String())
}

func (i *Identity) client(wanted func(Caller) bool, words string) *tls.Config {
	c := i.config()
	c.RootCAs = i.pool()
	c.VerifyConnection = func(s tls.ConnectionState) error {
		who, err := Of(&s)
		if err == nil && !wanted(who) {
			err = fmt.Errorf("identity: the server is %s, want %s", who, words)
		}
		return err
	}
	return c
}

func (i *Identity) config() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{i.cert.Raw}, PrivateKey: i.key, Leaf: i.cert}},
	}
}

func (i *Identity) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(i.authority)
	return p
}
