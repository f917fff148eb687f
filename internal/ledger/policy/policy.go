// SPDX-License-Identifier: Apache-2.0

// Package policy reads what an owner of rows allows: limits of price and time, in one file that an
// officer signs. Clauses are what all policies have; a project's policy and a site's add their own.
//
// To change here: a clause of every policy is a field of Clauses, which Check judges; docs/sites-protocol.md lists them.
//
// Judged by: go test ./internal/ledger/policy ./internal/net/service/site.
package policy

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// Clauses are what every policy says.
type Clauses struct {
	Version int `yaml:"version"`
	// Number grows with each policy that the officer signs.
	Number   int64  `yaml:"number"`
	Data     string `yaml:"data"`     // the data set in the ledger
	Training Limit  `yaml:"training"` // of one training, or another release
	Lifetime Limit  `yaml:"lifetime"` // of all together
	Until    string `yaml:"until"`    // the last day, as 2027-12-31

	End time.Time `yaml:"-"` // the moment after the last day
}

// Limit is a price that must not be exceeded.
type Limit struct {
	Epsilon string `yaml:"epsilon"`
	Delta   string `yaml:"delta"`
}

// Price parses a limit.
func (l Limit) Price() (p dp.Price, err error) {
	if p.Epsilon, err = dp.ParseEpsilon(l.Epsilon); err != nil {
		return p, err
	}
	if l.Delta != "" && l.Delta != "0" {
		p.Delta, err = dp.ParseDelta(l.Delta)
	}
	return p, err
}

// Version is the version of policies that this program reads.
const Version = 1

// Bad is the error for a key of a policy that is not what it must be. It quotes nothing, because the file may be
// another one.
func Bad(key, want string, args ...any) error {
	return fmt.Errorf("%s must %s", key, fmt.Sprintf(want, args...))
}

// Check refuses clauses that are none, and finds the end.
func (c *Clauses) Check() error {
	one, err := c.Training.Price()
	if err != nil {
		return Bad("training", "have an epsilon > 0 and a delta below 1")
	}
	all, err := c.Lifetime.Price()
	if err != nil {
		return Bad("lifetime", "have an epsilon > 0 and a delta below 1")
	}
	switch {
	case c.Version != Version:
		return Bad("version", "be %d", Version)
	case c.Number < 1:
		return Bad("number", "be at least 1, and grow with each policy that is signed")
	case c.Data == "":
		return Bad("data", "name the data set in the ledger")
	case one.Epsilon > all.Epsilon || one.Delta > all.Delta:
		return Bad("training", "be at most lifetime")
	}
	if c.End, err = time.Parse(time.DateOnly, c.Until); err != nil {
		return Bad("until", "be a day like 2027-12-31")
	}
	c.End = c.End.AddDate(0, 0, 1)
	return nil
}

// Kind is the kind of a signed file, which its signature covers.
type Kind string

const signedBy = "# signed by "

func (k Kind) text(body []byte) []byte { return append([]byte("discreet "+k+" 1\n"), body...) }

// Sign writes a text with a key's signature as its last line, in place of one that is there.
func (k Kind) Sign(text []byte, key ed25519.PrivateKey, to io.Writer) error {
	body, _ := cut(text)
	if body = bytes.TrimRight(body, "\n"); len(body) > 0 {
		body = append(body, '\n')
	}
	_, err := fmt.Fprintf(to, "%s%s%x: %x\n", body, signedBy, key.Public(), ed25519.Sign(key, k.text(body)))
	return err
}

// Open separates a text from its signature, and reports whether the key has made it.
func (k Kind) Open(text []byte, key ed25519.PublicKey) (body []byte, ok bool) {
	body, signature := cut(text)
	return body, key != nil && ed25519.Verify(key, k.text(body), signature)
}

// signerOf returns the key that a text names as its signer, nil if it names none.
func signerOf(text []byte) ed25519.PublicKey {
	body, _ := cut(text)
	words, _, _ := strings.Cut(strings.TrimPrefix(string(text[len(body):]), signedBy), ": ")
	if key, err := hex.DecodeString(words); err == nil && len(key) == ed25519.PublicKeySize {
		return key
	}
	return nil
}

// cut separates the last line of a text if it is a signature.
func cut(text []byte) (body, signature []byte) {
	at := bytes.LastIndex(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) + 1
	_, words, ok := strings.Cut(strings.TrimSpace(string(text[at:])), ": ")
	if !ok || !bytes.HasPrefix(text[at:], []byte(signedBy)) {
		return text, nil
	}
	signature, err := hex.DecodeString(words)
	if err != nil {
		return text, nil
	}
	return text[:at], signature
}

// ReadSigned reads a policy's file, without its signature. The key must have signed it; without a key it need not be
// signed.
func (k Kind) ReadSigned(path string, key ed25519.PublicKey) (body []byte, err error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	body, ok := k.Open(text, key)
	if key != nil && !ok {
		return nil, fmt.Errorf("%s must be signed by the officer's key, and unchanged since", path)
	}
	return body, nil
}

func readFile(path string) ([]byte, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, yamltext.MaxBytes+1))
}

// Digest is the digest of a policy's text without its signature.
func Digest(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
