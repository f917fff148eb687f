// SPDX-License-Identifier: Apache-2.0

// Package crltest revokes certificates in a folder that has the authority's key, as an organisation's
// authority does.
package crltest

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Revoke writes dir's crl.pem, valid for life from now on, with the certificates in the files NAME.crt.
func Revoke(t testing.TB, dir string, now time.Time, life time.Duration, names ...string) {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		if block == nil {
			t.Fatalf("%s holds no PEM", name)
		}
		return block.Bytes
	}
	certificate := func(name string) *x509.Certificate {
		cert, err := x509.ParseCertificate(read(name + ".crt"))
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	key, err := x509.ParsePKCS8PrivateKey(read("authority.key"))
	if err != nil {
		t.Fatal(err)
	}
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now.Add(-time.Hour), NextUpdate: now.Add(life)}
	for _, name := range names {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: certificate(name).SerialNumber, RevocationTime: now})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, certificate("authority"), key.(crypto.Signer))
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, "crl.pem"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
