// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
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

// trialLife is how long a trial's certificates are valid.
const trialLife = 90 * 24 * time.Hour

// Trial are the callers of a trial on one machine, unless others are named.
func Trial() []Caller {
	return []Caller{{Role: Aggregator, Name: "main"}, {Role: Helper, Name: "one"}, {Role: Helper, Name: "two"},
		{Role: Helper, Name: "three"}, {Role: Operator, Name: "me"}, {Role: Owner, Name: "me"}, {Role: Reader, Name: "me"}}
}

// SaveTrial makes certificates with new keys in dir for callers that hosts reach, signed by the authority
// there, or by a new one if there is none. They end with the authority. It replaces nothing.
func SaveTrial(dir string, callers []Caller, hosts []string, now time.Time) error {
	a, err := openTrial(dir, now)
	if err != nil {
		return err
	}
	for _, who := range callers {
		id, err := a.Issue(who, hosts, now, a.cert.NotAfter.Sub(now))
		if err == nil {
			err = id.Save(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openTrial loads the authority of a folder that has one, or half of one, and makes one elsewhere.
func openTrial(dir string, now time.Time) (*Authority, error) {
	for _, end := range []string{".crt", ".key"} {
		if _, err := os.Lstat(filepath.Join(dir, authorityName+end)); !errors.Is(err, fs.ErrNotExist) {
			return LoadAuthority(dir)
		}
	}
	a, err := NewAuthority(now, trialLife)
	if err != nil {
		return nil, err
	}
	return a, a.Save(dir)
}
