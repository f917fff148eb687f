// SPDX-License-Identifier: Apache-2.0

package ballot

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// NewKey writes a new Ed25519 key to a file that is not there yet and that only its
// owner may read, and returns the public half.
func NewKey(path string) (crypto.PublicKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("party: key %w", err)
	}
	return key.Public(), errors.Join(pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der}), f.Close())
}

// readKey reads a key file; without one the key is made for this file alone.
func readKey(path string) (ed25519.PrivateKey, error) {
	if path == "" {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("party: %s must be a PEM file", path)
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := k.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("party: %s must hold an Ed25519 key in PKCS #8, as party key writes it", path)
	}
	return key, nil
}
