// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/edkey"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// Roster holds the keys of the owners admitted to a task: Ed25519 public keys, 32 bytes each, in
// ascending order, without repetition. Anyone can make keys, so that without a roster one machine may
// report as many owners.
type Roster []byte

// MaxRoster is the largest number of owners on a roster.
const MaxRoster = 2_000_000

// LoadRoster reads a file of public keys, one per line.
func LoadRoster(path string) (Roster, error) {
	text, err := openfile.Read(path)
	if err != nil {
		return nil, err
	}
	r, err := ParseRoster(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// RosterOf accepts exactly a roster's bytes: at least one key, in order.
func RosterOf(keys []byte) (Roster, error) {
	r := Roster(keys)
	if len(keys) == 0 || len(keys)%ed25519.PublicKeySize != 0 || r.Len() > MaxRoster {
		return nil, fmt.Errorf("roster: must have 1 to %d keys of %d bytes (got %d bytes)", MaxRoster, ed25519.PublicKeySize,
			len(keys))
	}
	for i := range r.Len() {
		if err := edkey.Check(r.at(i)); err != nil {
			return nil, fmt.Errorf("roster: key %d: %w", i+1, err)
		}
	}
	for i := range r.Len() - 1 {
		if bytes.Compare(r.at(i), r.at(i+1)) >= 0 {
			return nil, fmt.Errorf("roster: key %d must be above the one before it", i+2)
		}
	}
	return r, nil
}

// ParseRoster parses a roster: one key per line, as 64 hexadecimal digits, in any order. Empty lines,
// and lines that begin with #, are skipped. A repeated key is refused, because its owner would count
// twice.
func ParseRoster(text []byte) (Roster, error) {
	var keys [][]byte
	lines := map[string]int{}
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key := make([]byte, ed25519.PublicKeySize)
		if n, err := hex.Decode(key, line[:min(len(line), 2*len(key))]); err != nil || n != len(key) || len(line) != 2*n {
			return nil, &dp.ParamError{Op: "roster", Param: fmt.Sprintf("line %d", i+1),
				Want: fmt.Sprintf("must be a key of %d hexadecimal digits", 2*len(key)), Got: "another line",
				Hint: "owner keys prints them"}
		}
		if err := edkey.Check(key); err != nil {
			return nil, dp.Refuse("roster", fmt.Sprintf("line %d", i+1), "must be an owner's key: "+err.Error(), nil)
		}
		if before := lines[string(key)]; before > 0 {
			return nil, dp.Refuse("roster", fmt.Sprintf("line %d", i+1), fmt.Sprintf("must not be that of line %d again",
				before), nil)
		}
		lines[string(key)] = i + 1
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return bytes.Compare(keys[i], keys[j]) < 0 })
	return RosterOf(bytes.Join(keys, nil))
}

// Text returns the roster in the format of ParseRoster, one key per line.
func (r Roster) Text() []byte {
	out := make([]byte, 0, r.Len()*(2*ed25519.PublicKeySize+1))
	for i := range r.Len() {
		out = append(hex.AppendEncode(out, r.at(i)), '\n')
	}
	return out
}

// Len returns the number of admitted owners.
func (r Roster) Len() int { return len(r) / ed25519.PublicKeySize }

func (r Roster) at(i int) []byte { return r[i*ed25519.PublicKeySize:][:ed25519.PublicKeySize] }

// Has reports whether the owner of a key is admitted.
func (r Roster) Has(key [ed25519.PublicKeySize]byte) bool {
	i := sort.Search(r.Len(), func(i int) bool { return bytes.Compare(r.at(i), key[:]) >= 0 })
	return i < r.Len() && bytes.Equal(r.at(i), key[:])
}

// RosterDigest identifies a roster: the SHA-256 of its bytes. The zero digest means no roster.
type RosterDigest [sha256.Size]byte

// Digest returns the roster's digest.
func (r Roster) Digest() RosterDigest { return sha256.Sum256(r) }

// Named reports whether the digest is not zero.
func (d RosterDigest) Named() bool { return d != RosterDigest{} }

// MarshalText returns the digest in hexadecimal.
func (d RosterDigest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (d *RosterDigest) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(d[:], text[:min(len(text), 2*len(d))]); err != nil || 2*n != len(text) || n != len(d) {
		return fmt.Errorf("roster: a digest has %d hexadecimal digits", 2*len(d))
	}
	return nil
}
