// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
)

const requestType = "CERTIFICATE REQUEST"

// Request makes a caller's key in dir and asks for its certificate: ROLE-NAME.key stays, ROLE-NAME.csr goes
// to the authority. It replaces nothing, and returns the digest of the public key, to be compared.
func Request(dir string, c Caller, hosts []string) (digest string, err error) {
	if err := c.Check(); err != nil {
		return "", err
	}
	if err := checkHosts(c, hosts); err != nil {
		return "", err
	}
	key, err := newKey()
	if err != nil {
		return "", err
	}
	t := &x509.CertificateRequest{Subject: pkix.Name{CommonName: c.String()}, URIs: []*url.URL{c.callerURI()}}
	t.DNSNames, t.IPAddresses = splitHosts(hosts)
	der, err := x509.CreateCertificateRequest(rand.Reader, t, key)
	if err != nil {
		return "", fmt.Errorf("identity: make a request: %w", err)
	}
	asked, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return "", fmt.Errorf("identity: make a request: %w", err)
	}
	if err := saveKey(dir, c.fileName(), key); err != nil {
		return "", err
	}
	return digestOfKey(asked), createFile(filepath.Join(dir, c.fileName()+".csr"), 0o644, requestType, der)
}

func digestOfKey(r *x509.CertificateRequest) string {
	sum := sha256.Sum256(r.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func splitHosts(hosts []string) (names []string, addresses []net.IP) {
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, h)
		}
	}
	return names, addresses
}
