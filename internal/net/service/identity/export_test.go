// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// What an organisation's authority does beside issuing, as the operators' guide does it with OpenSSL.

const issuedName = "issued.pem" // certificates before they were renewed

// Renew signs a caller's certificate in dir again, with the same key and hosts, and replaces the file.
func (a *Authority) Renew(dir string, c Caller, now time.Time, life time.Duration) (time.Time, error) {
	path := filepath.Join(dir, c.fileName()+".crt")
	old, err := readCertificate(path, c)
	if err != nil {
		return time.Time{}, err
	}
	hosts := old.DNSNames
	for _, ip := range old.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	cert, err := a.issueCertificate(c, hosts, old.PublicKey, now, life)
	if err != nil {
		return time.Time{}, err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	all, err := os.ReadFile(filepath.Join(dir, issuedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, err
	}
	fresh := filepath.Join(dir, "fresh")
	return cert.NotAfter, errors.Join(os.WriteFile(filepath.Join(dir, issuedName), append(all, before...), 0o600),
		os.WriteFile(fresh, pem.EncodeToMemory(&pem.Block{Type: certType, Bytes: cert.Raw}), 0o600), os.Rename(fresh, path))
}

// Revoke adds every certificate of the callers in dir to the list there, and signs it for life from now on.
func (a *Authority) Revoke(dir string, callers []Caller, now time.Time, life time.Duration) (int, error) {
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now.Add(-skew), NextUpdate: now.Add(life)}
	path := filepath.Join(dir, listName)
	ders, err := readBlocks(path, listType)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, der := range ders {
		old, err := x509.ParseRevocationList(der)
		if err != nil {
			return 0, err
		}
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, old.RevokedCertificateEntries...)
		l.Number.Add(l.Number, old.Number)
	}
	for _, c := range callers {
		for _, name := range []string{c.fileName() + ".crt", issuedName} {
			certs, err := readCertificates(filepath.Join(dir, name))
			if err != nil && (name != issuedName || !errors.Is(err, fs.ErrNotExist)) {
				return 0, fmt.Errorf("nothing to revoke: %w", err)
			}
			for _, cert := range certs {
				if who, err := callerOf(cert); err == nil && who == c {
					l.RevokedCertificateEntries = append(l.RevokedCertificateEntries,
						x509.RevocationListEntry{SerialNumber: cert.SerialNumber, RevocationTime: now})
				}
			}
		}
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, a.cert, a.key)
	if err != nil {
		return 0, err
	}
	fresh := filepath.Join(dir, "fresh")
	return len(l.RevokedCertificateEntries), errors.Join(
		os.WriteFile(fresh, pem.EncodeToMemory(&pem.Block{Type: listType, Bytes: der}), 0o600), os.Rename(fresh, path))
}
