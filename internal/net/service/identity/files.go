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
	"reflect"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

const (
	authorityName = "authority"
	certType      = "CERTIFICATE"
	keyType       = "PRIVATE KEY"
)

// FolderNames matches the file names in a folder of certificates.
const FolderNames = `(authority|(aggregator|combiner|helper|operator|owner|party|reader)-.+)\.(crt|key|csr)|crl\.pem`

// Save writes authority.crt, which everyone needs, and authority.key, which must be kept private, to
// dir. It replaces no file.
func (a *Authority) Save(dir string) error {
	return saveIdentity(dir, authorityName, a.cert, a.key)
}

// LoadAuthority reads what Save wrote. If authority.crt holds several certificates, it uses the one
// with the key.
func LoadAuthority(dir string) (*Authority, error) {
	key, err := loadKey(filepath.Join(dir, authorityName+".key"))
	if err != nil {
		return nil, err
	}
	all, err := loadAuthorities(dir)
	if err != nil {
		return nil, err
	}
	for _, cert := range all {
		if key.PublicKey.Equal(cert.PublicKey) {
			return &Authority{cert, key}, nil
		}
	}
	return nil, fmt.Errorf("identity: %s: no certificate matches the key",
		filepath.Join(dir, authorityName+".crt"))
}

// Save writes ROLE-NAME.crt and ROLE-NAME.key to dir. It replaces no file.
func (i *Identity) Save(dir string) error {
	h := i.currentFiles()
	return saveIdentity(dir, i.fileName(), h.cert, h.key)
}

func (c Caller) fileName() string { return string(c.Role) + "-" + c.Name }

// Load reads the identity of one caller from dir, with the authorities of authority.crt, and their
// revocation lists in crl.pem if it exists. It refuses a certificate that is not valid now.
func Load(dir string, c Caller) (*Identity, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	now := time.Now()
	i := &Identity{Caller: c, dir: dir, seen: statFiles(dir, c)}
	h, err := readFiles(dir, c, now)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, c.fileName()+".crt")
	switch {
	case now.After(h.cert.NotAfter):
		return nil, fmt.Errorf("identity: %s: the certificate ended at %s: its authority signs another", path,
			stamp(h.cert.NotAfter))
	case now.Before(h.cert.NotBefore):
		return nil, fmt.Errorf("identity: %s: the certificate begins at %s", path, stamp(h.cert.NotBefore))
	}
	for _, l := range h.lists {
		for _, by := range l.by {
			if h.cert.CheckSignatureFrom(by) != nil {
				continue
			}
			if err := l.checkRevoked(h.cert, by, now); err != nil {
				return nil, fmt.Errorf("identity: %s: the certificate does not hold: %w", path, err)
			}
		}
	}
	i.held = h
	return i, nil
}

// currentFiles returns the current content of the files, or the previous content if the current one
// cannot be used: a certificate and its key are two files, which are replaced one after the other.
func (i *Identity) currentFiles() *held {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dir == "" {
		return i.held
	}
	if seen := statFiles(i.dir, i.Caller); !seen.sameFiles(i.seen) {
		i.seen = seen
		i.rereadFiles()
	}
	return i.held
}

// Reload reads the files even if they seem unchanged. If they cannot be used, it returns an error and
// keeps the previous content.
func (i *Identity) Reload() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dir == "" {
		return nil
	}
	i.seen = statFiles(i.dir, i.Caller)
	i.rereadFiles()
	return i.fault
}

// rereadFiles reads the files. i.mu must be held. The certificate, its key and the authorities are
// replaced together or not at all. Revocation lists are read independently, so that a fault in another
// file cannot keep a revoked certificate in use. No list is ever dropped.
func (i *Identity) rereadFiles() {
	now := time.Now()
	h, err := readOwnFiles(i.dir, i.Caller)
	if err != nil {
		h = &held{cert: i.held.cert, key: i.held.key, authorities: i.held.authorities}
	}
	lists, fault := loadLists(i.dir, h.authorities, now)
	if len(i.held.lists) > 0 && len(lists) == 0 && fault == nil {
		fault = fmt.Errorf("identity: %s is gone: the lists of before stay in force until the process is started again",
			filepath.Join(i.dir, listName))
	}
	for _, l := range i.held.lists {
		if slices.ContainsFunc(lists, func(o list) bool { return o.ofSame(&l) }) {
			l.unreadable = nil // a later one of its authority is understood, or says so itself
		}
		lists = addList(lists, l)
	}
	h.lists, i.fault = lists, errors.Join(err, fault)
	if i.fault == nil || !h.sameAs(i.held) {
		i.held = h
	}
}

// sameAs reports whether two contents are equal.
func (h *held) sameAs(o *held) bool {
	return h.cert.Equal(o.cert) && slices.EqualFunc(h.authorities, o.authorities, (*x509.Certificate).Equal) &&
		reflect.DeepEqual(h.lists, o.lists)
}

// readFiles reads the files when a process starts: all of them must be valid.
func readFiles(dir string, c Caller, now time.Time) (*held, error) {
	h, err := readOwnFiles(dir, c)
	if err == nil {
		h.lists, err = loadLists(dir, h.authorities, now)
	}
	return h, err
}

// readOwnFiles reads all files except revocation lists.
func readOwnFiles(dir string, c Caller) (*held, error) {
	key, err := loadKey(filepath.Join(dir, c.fileName()+".key"))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, c.fileName()+".crt")
	cert, err := readCertificate(path, c)
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, fmt.Errorf("identity: %s: the certificate does not match the key", path)
	}
	if err := checkUse(cert, x509.ExtKeyUsageClientAuth); err != nil {
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	authorities, err := loadAuthorities(dir)
	if err != nil {
		return nil, err
	}
	return &held{cert: cert, key: key, authorities: authorities}, nil
}

// seen is the state of an identity's files when they were last read; nil for a missing file.
type seen [4]fs.FileInfo

func statFiles(dir string, c Caller) (s seen) {
	for k, name := range []string{c.fileName() + ".key", c.fileName() + ".crt", authorityName + ".crt", listName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			s[k] = info
		}
	}
	return s
}

// sameFiles reports whether no file has been written or replaced since.
func (s seen) sameFiles(o seen) bool {
	return slices.EqualFunc(s[:], o[:], func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}

func loadAuthorities(dir string) ([]*x509.Certificate, error) {
	path := filepath.Join(dir, authorityName+".crt")
	all, err := readCertificates(path)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(c *x509.Certificate) bool { return !c.IsCA }) {
		return nil, fmt.Errorf("identity: %s: want certificates of authorities alone", path)
	}
	return all, nil
}

// readCertificate reads the only certificate of a caller.
func readCertificate(path string, c Caller) (*x509.Certificate, error) {
	all, err := readCertificates(path)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("identity: %s: want one certificate, got %d", path, len(all))
	}
	if who, err := callerOf(all[0]); err != nil || who != c {
		return nil, fmt.Errorf("identity: %s: the certificate is not that of %s", path, c)
	}
	return all[0], nil
}

func readCertificates(path string) (out []*x509.Certificate, err error) {
	ders, err := readBlocks(path, certType)
	if err != nil {
		return nil, err
	}
	for _, der := range ders {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("identity: %s: %w", path, err)
		}
		out = append(out, cert)
	}
	return out, nil
}

func loadKey(path string) (*ecdsa.PrivateKey, error) {
	if info, err := os.Stat(path); err == nil && othersMayRead(info) {
		return nil, fmt.Errorf("identity: %s: others may read the key (mode %04o), want 0600", path, info.Mode().Perm())
	}
	ders, err := readBlocks(path, keyType)
	if err != nil {
		return nil, err
	}
	if len(ders) != 1 {
		return nil, fmt.Errorf("identity: %s: want one key, got %d", path, len(ders))
	}
	key, err := x509.ParsePKCS8PrivateKey(ders[0])
	if err != nil {
		return nil, fmt.Errorf("identity: %s: %w", path, err)
	}
	if key, ok := key.(*ecdsa.PrivateKey); ok {
		return key, nil
	}
	return nil, fmt.Errorf("identity: %s: want an elliptic-curve key, got %T", path, key)
}

// readBlocks reads a file that consists of at least one PEM block, all of the given type.
func readBlocks(path, kind string) (out [][]byte, err error) {
	text, err := openfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	for len(text) > 0 {
		b, rest := pem.Decode(text)
		if b == nil || b.Type != kind {
			return nil, fmt.Errorf("identity: %s: want PEM blocks %q and nothing else", path, kind)
		}
		out, text = append(out, b.Bytes), rest
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("identity: %s: want a PEM block %q", path, kind)
	}
	return out, nil
}

func saveIdentity(dir, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) error {
	// The key first: a certificate alone would look like a finished identity.
	if err := saveKey(dir, name, key); err != nil {
		return err
	}
	return createFile(filepath.Join(dir, name+".crt"), 0o644, certType, cert.Raw)
}

func saveKey(dir, name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return createFile(filepath.Join(dir, name+".key"), 0o600, keyType, der)
}

// createFile writes one PEM block to a new file.
func createFile(path string, mode fs.FileMode, block string, der []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return writeBlock(f, block, der)
}

func writeBlock(f *os.File, block string, der []byte) error {
	_, err := f.Write(pem.EncodeToMemory(&pem.Block{Type: block, Bytes: der}))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("identity: write %s: %w", f.Name(), err)
	}
	return nil
}
