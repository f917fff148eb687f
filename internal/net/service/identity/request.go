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
	"time"
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

// Signed is what a request was for.
type Signed struct {
	Hosts  []string
	Digest string // of the public key, as Request returned it
	Ends   time.Time
}

// Sign answers a request for the certificate of c, in dir. It takes the key and the hosts of the request,
// and nothing else: the use is that of the role. It replaces nothing.
func (a *Authority) Sign(dir, request string, c Caller, now time.Time, life time.Duration) (*Signed, error) {
	ders, err := readBlocks(request, requestType)
	if err != nil {
		return nil, err
	}
	asked, err := x509.ParseCertificateRequest(ders[0])
	if err == nil {
		err = asked.CheckSignature()
	}
	if err != nil || len(ders) != 1 {
		return nil, fmt.Errorf("identity: %s: want one request that its own key has signed", request)
	}
	as := &x509.Certificate{URIs: asked.URIs, PublicKey: asked.PublicKey}
	if who, err := callerOf(as); err != nil || who != c {
		return nil, fmt.Errorf("identity: %s: the request is not that of %s", request, c)
	}
	if err := checkUse(as); err != nil {
		return nil, fmt.Errorf("%w: %s", err, request)
	}
	hosts := hostsOf(asked.DNSNames, asked.IPAddresses)
	cert, err := a.issueCertificate(c, hosts, asked.PublicKey, now, life)
	if err != nil {
		return nil, err
	}
	if err := createFile(filepath.Join(dir, c.fileName()+".crt"), 0o644, certType, cert.Raw); err != nil {
		return nil, err
	}
	return &Signed{hosts, digestOfKey(asked), cert.NotAfter}, recordIssued(dir, cert)
}

func digestOfKey(r *x509.CertificateRequest) string {
	sum := sha256.Sum256(r.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func hostsOf(names []string, addresses []net.IP) (hosts []string) {
	hosts = append(hosts, names...)
	for _, ip := range addresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
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
