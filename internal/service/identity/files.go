// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	authorityName = "authority"
	certType      = "CERTIFICATE"
	keyType       = "PRIVATE KEY"
)

// Save writes authority.crt, which everybody needs, and authority.key, which
// nobody else may have, into dir. It replaces nothing.
func (a *Authority) Save(dir string) error {
	return save(dir, authorityName, a.cert, a.key)
}

// LoadAuthority reads what Save wrote.
func LoadAuthority(dir string) (*Authority, error) {
	cert, key, err := load(dir, authorityName)
	if err != nil {
		return nil, err
	}
	if !cert.IsCA {
		return nil, fmt.Errorf("identity: %s: want an authority's certificate", filepath.Join(dir, authorityName+".crt"))
	}
	return &Authority{cert, key}, nil
}

// Save writes ROLE-NAME.crt and ROLE-NAME.key into dir. It replaces nothing.
func (i *Identity) Save(dir string) error {
	return save(dir, i.file(), i.cert, i.key)
}

func (c Caller) file() string { return string(c.Role) + "-" + c.Name }

// Load reads the identity of one caller from dir, and authority.crt beside it.
func Load(dir string, c Caller) (*Identity, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	cert, key, err := load(dir, c.file())
	if err != nil {
		return nil, err
	}
	if who, err := callerOf(cert); err != nil || who != c {
		return nil, fmt.Errorf("identity: %s: the certificate is not that of %s", filepath.Join(dir, c.file()+".crt"), c)
	}
	der, err := block(filepath.Join(dir, authorityName+".crt"), certType)
	if err != nil {
		return nil, err
	}
	authority, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("identity: %s: %w", filepath.Join(dir, authorityName+".crt"), err)
	}
	return &Identity{Caller: c, cert: cert, key: key, authority: authority}, nil
}

func save(dir, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	// The key first: a certificate alone would look like a finished identity.
	if err := create(filepath.Join(dir, name+".key"), 0o600, &pem.Block{Type: keyType, Bytes: der}); err != nil {
		return err
	}
	return create(filepath.Join(dir, name+".crt"), 0o644, &pem.Block{Type: certType, Bytes: cert.Raw})
}

func create(path string, mode fs.FileMode, b *pem.Block) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if err := errors.Join(pem.Encode(f, b), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("identity: write %s: %w", path, err)
	}
	return nil
}

func load(dir, name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, name+".key")
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, nil, fmt.Errorf("identity: %s: others may read the key (mode %04o), want 0600", path, info.Mode().Perm())
	}
	der, err := block(path, keyType)
	if err != nil {
		return nil, nil, err
	}
	any, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, nil, fmt.Errorf("identity: %s: %w", path, err)
	}
	key, ok := any.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("identity: %s: want an elliptic-curve key, got %T", path, any)
	}
	path = filepath.Join(dir, name+".crt")
	if der, err = block(path, certType); err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("identity: %s: %w", path, err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, fmt.Errorf("identity: %s: the certificate is not for the key beside it", path)
	}
	return cert, key, nil
}

// block reads a file that holds exactly one block of the type.
func block(path, kind string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	b, rest := pem.Decode(text)
	if b == nil || b.Type != kind || len(rest) > 0 {
		return nil, fmt.Errorf("identity: %s: want one PEM block %q", path, kind)
	}
	return b.Bytes, nil
}
