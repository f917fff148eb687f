// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/keyfile"
)

// Life describes how long a certificate in a folder is valid, or why it cannot be used.
type Life struct {
	Name, Words string
	Err         error
}

// Lives checks the certificates in a folder: those of authorities, and those of callers with their
// keys and revocation lists if a key exists.
func Lives(dir string, now time.Time) ([]Life, error) {
	authorities, err := loadAuthorities(dir)
	if err != nil {
		return nil, err
	}
	var lives []Life
	for _, cert := range authorities {
		words, err := keyfile.DescribeLife(cert, now)
		lives = append(lives, Life{authorityName, words, err})
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".crt")
		role, rest, named := strings.Cut(name, "-")
		c := Caller{Role: Role(role), Name: rest}
		if !ok || !named || !slices.Contains(Roles(), c.Role) {
			continue
		}
		l := Life{Name: c.String()}
		var cert *x509.Certificate
		if cert, l.Err = readCertificate(filepath.Join(dir, f.Name()), c); l.Err == nil {
			l.Words, l.Err = keyfile.DescribeLife(cert, now)
		}
		if _, err := os.Stat(filepath.Join(dir, name+".key")); err == nil && l.Err == nil {
			_, l.Err = Load(dir, c)
		}
		lives = append(lives, l)
	}
	return lives, nil
}
