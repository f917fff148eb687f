// SPDX-License-Identifier: Apache-2.0

// Package keyfile stores Ed25519 keys in PEM files: private keys in PKCS #8 and public keys in PKIX,
// which OpenSSL and similar programs can read. It also says how long a certificate is valid.
package keyfile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/edkey"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// The kinds of PEM blocks.
const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

const (
	maxFile = 1 << 20 // bytes of a key file
	maxKeys = 1000    // public keys in one file
)

// New creates a file with a new Ed25519 key that only its owner may read, and one of the same name with
// .pub for everyone, and returns the public half. Neither may exist. Errors begin with op.
func New(op, path string) (ed25519.PublicKey, error) {
	if _, err := os.Lstat(path + ".pub"); err == nil { // before there is half a pair
		return nil, dp.Refuse(op, "out", "must be a name for which there is no .pub file yet", path)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := writeBlock(op, path, 0o600, &pem.Block{Type: privateBlock, Bytes: der}); err != nil {
		return nil, err
	}
	return public, WritePublic(op, path+".pub", public)
}

// WritePublic creates a file with a public key that everyone may read. The file must not exist.
func WritePublic(op, path string, key ed25519.PublicKey) error {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return err
	}
	return writeBlock(op, path, 0o644, &pem.Block{Type: publicBlock, Bytes: der})
}

func writeBlock(op, path string, mode fs.FileMode, block *pem.Block) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%s: key %w", op, err)
	}
	return errors.Join(pem.Encode(f, block), f.Close())
}

// Read reads a file that New wrote.
func Read(op, path string) (ed25519.PrivateKey, error) {
	text, err := read(op, path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %s must be a PEM file", op, path)
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := k.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: %s must hold a private Ed25519 key in PKCS #8", op, path)
	}
	return key, nil
}

// ReadPublic reads the public keys of a file, one PEM block each. It refuses other content, and a key
// for which anyone can sign.
func ReadPublic(op, path string) ([]ed25519.PublicKey, error) {
	text, err := read(op, path)
	if err != nil {
		return nil, err
	}
	keys, err := ParsePublic(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s %w", op, path, err)
	}
	return keys, nil
}

// ReadOne reads the one public key of a file. Errors begin with op and name the parameter.
func ReadOne(op, param, path string) (ed25519.PublicKey, error) {
	keys, err := ReadPublic(op, path)
	if err != nil {
		return nil, err
	}
	if len(keys) != 1 {
		return nil, dp.Refuse(op, param, "must hold one key", fmt.Sprint(len(keys)))
	}
	return keys[0], nil
}

// ParsePublic is ReadPublic for the text of a file.
func ParsePublic(text []byte) (keys []ed25519.PublicKey, err error) {
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		if !bytes.HasPrefix(rest, []byte("-----BEGIN "+publicBlock+"-----")) {
			return nil, errors.New("must hold public keys in PEM and nothing else")
		}
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != publicBlock || len(block.Headers) > 0 {
			return nil, errors.New("must hold public keys in PEM and nothing else")
		}
		k, err := x509.ParsePKIXPublicKey(block.Bytes)
		key, ok := k.(ed25519.PublicKey)
		switch {
		case err != nil || !ok:
			return nil, fmt.Errorf("must hold Ed25519 keys alone: key %d is none", len(keys)+1)
		case len(keys) == maxKeys:
			return nil, fmt.Errorf("must hold at most %d keys", maxKeys)
		}
		if err := edkey.Check(key); err != nil {
			return nil, fmt.Errorf("must hold valid keys: key %d: %w", len(keys)+1, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("must hold a public key")
	}
	return keys, nil
}

// ID identifies a public key: the SHA-256 of its PKIX form, in hexadecimal, as openssl pkey -pubin
// -outform DER | sha256sum prints it.
func ID(key ed25519.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err) // an Ed25519 key always has one
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

func read(op, path string) ([]byte, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, fmt.Errorf("%s: key: %w", op, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: key: %w", op, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: %s must be a key file of at most %d bytes", op, path, maxFile)
	}
	return text, nil
}
