// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// skew is the largest difference between two machines' clocks at which a new certificate is still
// accepted.
const skew = 2 * time.Hour

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes an authority with a new key, valid for life from now on.
func NewAuthority(now time.Time, life time.Duration) (*Authority, error) {
	t, err := newTemplate(now, life)
	if err != nil {
		return nil, err
	}
	t.Subject = pkix.Name{CommonName: "discreet trial authority"}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := signCertificate(t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Authority{cert, key}, nil
}

// Issue makes a certificate with a new key for one caller. It is valid for life from now on, but not
// longer than the authority. hosts are the names and addresses of a caller that is a server.
func (a *Authority) Issue(c Caller, hosts []string, now time.Time, life time.Duration) (*Identity, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := a.issueCertificate(c, hosts, key.Public(), now, life)
	if err != nil {
		return nil, err
	}
	return &Identity{Caller: c, held: &held{cert: cert, key: key, authorities: []*x509.Certificate{a.cert}}}, nil
}

// Renew signs a caller's certificate in dir again, with the same key and hosts, valid for life from
// now on, and returns its end. The key file is not needed. It renews only certificates that one of the
// authorities in authority.crt has signed.
func (a *Authority) Renew(dir string, c Caller, now time.Time, life time.Duration) (time.Time, error) {
	if err := c.Check(); err != nil {
		return time.Time{}, err
	}
	path := filepath.Join(dir, c.fileName()+".crt")
	old, err := readCertificate(path, c)
	if err != nil {
		return time.Time{}, err
	}
	authorities, err := loadAuthorities(dir)
	if err != nil {
		return time.Time{}, err
	}
	if !slices.ContainsFunc(authorities, func(by *x509.Certificate) bool { return old.CheckSignatureFrom(by) == nil }) {
		return time.Time{}, fmt.Errorf("identity: %s: must be signed by an authority of %s", path, authorityName+".crt")
	}
	cert, err := a.issueCertificate(c, hostsOf(old.DNSNames, old.IPAddresses), old.PublicKey, now, life)
	if err != nil {
		return time.Time{}, err
	}
	if err := recordIssued(dir, cert); err != nil {
		return time.Time{}, err
	}
	return cert.NotAfter, replaceFile(path, pem.EncodeToMemory(&pem.Block{Type: certType, Bytes: cert.Raw}))
}

func (a *Authority) issueCertificate(c Caller, hosts []string, key any, now time.Time,
	life time.Duration) (*x509.Certificate, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	t, err := newTemplate(now, life)
	if err != nil {
		return nil, err
	}
	if t.NotAfter.After(a.cert.NotAfter) {
		return nil, dp.Refuse("identity", "life",
			"must end before the authority does, "+a.cert.NotAfter.Format(time.RFC3339), t.NotAfter.Format(time.RFC3339))
	}
	t.Subject = pkix.Name{CommonName: c.String()}
	t.URIs = []*url.URL{c.callerURI()}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if err := checkHosts(c, hosts); err != nil {
		return nil, err
	}
	if c.serves() {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	t.DNSNames, t.IPAddresses = splitHosts(hosts)
	return signCertificate(t, a.cert, key, a.key)
}

// serves reports whether others call it.
func (c Caller) serves() bool { return c.Role == Aggregator || c.Role == Helper || c.Role == Party }

// checkHosts refuses a server that is nowhere.
func checkHosts(c Caller, hosts []string) error {
	if c.serves() && len(hosts) == 0 {
		return dp.Refuse("identity", "hosts",
			"must be at least one, the names at which the "+string(c.Role)+" is reached", "none")
	}
	return nil
}

// newTemplate returns the common part of all certificates.
func newTemplate(now time.Time, life time.Duration) (*x509.Certificate, error) {
	if !(life > 0) {
		return nil, dp.Refuse("identity", "life", "must be > 0", life.String())
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("identity: draw a serial number: %w", err)
	}
	return &x509.Certificate{SerialNumber: serial, NotBefore: now.Add(-skew), NotAfter: now.Add(life)}, nil
}

// newKey uses a curve that browsers and all TLS libraries support.
func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("identity: make a key: %w", err)
	}
	return key, nil
}

func signCertificate(t, parent *x509.Certificate, key any, parentKey *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key, parentKey)
	if err != nil {
		return nil, fmt.Errorf("identity: sign a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// IssueTrial makes the certificates for a trial on one machine and saves them: for the aggregator
// main, the helpers one, two and three, and an operator, an owner and a reader named me.
func (a *Authority) IssueTrial(dir string, hosts []string, now time.Time, valid time.Duration) error {
	trial := []Caller{{Role: Aggregator, Name: "main"}, {Role: Helper, Name: "one"}, {Role: Helper, Name: "two"},
		{Role: Helper, Name: "three"}, {Role: Operator, Name: "me"}, {Role: Owner, Name: "me"}, {Role: Reader, Name: "me"}}
	for _, who := range trial {
		id, err := a.Issue(who, hosts, now, valid)
		if err == nil {
			err = id.Save(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
