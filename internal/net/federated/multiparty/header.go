// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/edkey"
	"github.com/discreet-dp/discreet/internal/ground/jsontext"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Kind is the kind of votes in a votes file.
type Kind string

const (
	Labels        Kind = "labels"        // one level per row
	Probabilities Kind = "probabilities" // one number per row and level
	Coefficients  Kind = "coefficients"  // of a logistic regression, for Average
)

// One is the number of units of a whole vote. The units of one row's vote add up to it.
const One = 1<<16 - 1

// Header identifies the party of the votes that follow, the table and the model.
//
// A votes file is the line "discreet votes 1", the header as one line of JSON, the body, and an
// Ed25519ph signature (RFC 8032, section 5.1, over SHA-512) of all bytes before it. There is one way
// to write a file: unknown, missing or respelt fields are refused.
//
// The body has, for labels, one byte per row: the code of the level. For probabilities, it has 2·(K-1)
// bytes per row, little-endian: the units of all levels except the last, which has the rest of One.
// For coefficients, it has 8 bytes each, little-endian: the IEEE 754 doubles of Layout, then the
// intercept.
type Header struct {
	Party   string   `json:"party"`
	Kind    Kind     `json:"kind"`
	Levels  []string `json:"levels"` // of the label, in code order
	Rows    int      `json:"rows"`   // of the auxiliary table
	Aux     Digest   `json:"aux"`    // digest of its files
	Model   Digest   `json:"model"`  // digest of the voting model
	Encoder string   `json:"encoding,omitempty"`
	Layout  []string `json:"layout,omitempty"` // names of features, coefficients only
	Key     Key      `json:"key"`
}

const (
	magic     = "discreet votes 1\n"
	maxHeader = 8 << 20
	maxRows   = 1<<31 - 1
	maxName   = 128
	maxLayout = 1 << 20
)

// Digest is a SHA-256.
type Digest [32]byte

// Key is the public key for a file's signature.
type Key [ed25519.PublicKeySize]byte

// MarshalText writes hexadecimal digits.
func (d Digest) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%x", d[:]), nil }

// UnmarshalText reads them.
func (d *Digest) UnmarshalText(b []byte) error { return decodeHex(d[:], b) }

// MarshalText writes hexadecimal digits.
func (k Key) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%x", k[:]), nil }

// UnmarshalText reads them.
func (k *Key) UnmarshalText(b []byte) error {
	if err := decodeHex(k[:], b); err != nil {
		return err
	}
	return edkey.Check(k[:])
}

func decodeHex(to, from []byte) error {
	if len(from) != 2*len(to) {
		return fmt.Errorf("multiparty: must have %d hexadecimal digits (got %d)", 2*len(to), len(from))
	}
	for i := range to {
		hi, lo := hexDigit(from[2*i]), hexDigit(from[2*i+1])
		if hi < 0 || lo < 0 {
			return fmt.Errorf("multiparty: must have lower-case hexadecimal digits only")
		}
		to[i] = byte(hi<<4 | lo)
	}
	return nil
}

func hexDigit(c byte) int { return bytes.IndexByte([]byte("0123456789abcdef"), c) }

// checkFields refuses a header that no Writer can make.
func (h *Header) checkFields() error {
	switch {
	case !isName(h.Party):
		return fmt.Errorf("multiparty: votes: party must be 1 to %d printable characters", maxName)
	case h.Kind != Labels && h.Kind != Probabilities && h.Kind != Coefficients:
		return fmt.Errorf("multiparty: votes: kind must be %q, %q or %q", Labels, Probabilities, Coefficients)
	case len(h.Levels) < 2 || len(h.Levels) > schema.MaxClasses:
		return fmt.Errorf("multiparty: votes: levels must number 2 to %d (got %d)", schema.MaxClasses, len(h.Levels))
	case h.Rows < 1 || h.Rows > maxRows:
		return fmt.Errorf("multiparty: votes: rows must be from 1 to %d (got %d)", maxRows, h.Rows)
	case (h.Kind == Coefficients) != (len(h.Layout) > 0) || (h.Kind == Coefficients) != (h.Encoder != ""):
		return fmt.Errorf("multiparty: votes: encoding and layout belong to kind %q, and only there", Coefficients)
	case len(h.Layout) > maxLayout:
		return fmt.Errorf("multiparty: votes: layout must have at most %d names (got %d)", maxLayout, len(h.Layout))
	case h.Kind == Coefficients && len(h.Levels) != 2:
		return fmt.Errorf("multiparty: votes: coefficients are of two levels (got %d)", len(h.Levels))
	}
	return nil
}

// isName accepts names that print as they read.
func isName(s string) bool {
	return plaintext.Is(s) && 0 < len(s) && len(s) <= maxName
}

// itemBytes returns the number of bytes of the body per row, or per coefficient.
func (h *Header) itemBytes() int {
	switch h.Kind {
	case Labels:
		return 1
	case Probabilities:
		return 2 * (len(h.Levels) - 1)
	}
	return 8
}

// countItems returns the number of rows, or coefficients, in the body.
func (h *Header) countItems() int {
	if h.Kind == Coefficients {
		return len(h.Layout) + 1
	}
	return h.Rows
}

func (h *Header) encodeText() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return nil, fmt.Errorf("multiparty: votes: header: %w", err)
	}
	return b.Bytes(), nil // Encode ends the line
}

// parseHeader parses the line without its line end.
func parseHeader(line []byte) (*Header, error) {
	h := new(Header)
	if err := jsontext.Usual.Decode(line, h); err != nil {
		return nil, fmt.Errorf("multiparty: votes: header: must be one line of JSON with the fields of this version")
	}
	again, err := h.encodeText()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again[:len(again)-1], line) {
		return nil, fmt.Errorf("multiparty: votes: header: must hold every field once, in its order and in canonical form")
	}
	return h, h.checkFields()
}
