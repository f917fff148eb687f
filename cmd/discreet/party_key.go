// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
)

func (a *app) partyKey() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "key",
		Short: "make a party's key for signing votes",
		Long: `Key writes a new Ed25519 key to a file that only its owner may read, and prints
the public half, which the combiner's roster wants.`,
		Example: `  discreet party key --out mine.pem`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, key, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				return err
			}
			der, err := x509.MarshalPKCS8PrivateKey(key)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return fmt.Errorf("party: key %w", err)
			}
			if err := errors.Join(pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der}), f.Close()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%x\n", key.Public())
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "the `file` to write the key to; it must not be there")
	cli.Require(c, "out")
	return c
}

// signingKey reads a key file; without one the key is made for this file alone.
func (a *app) signingKey(path string) (ed25519.PrivateKey, error) {
	if path == "" {
		a.Say("no --key: the signature will say that the file is whole, not who wrote it")
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
