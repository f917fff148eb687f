// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Keys are a site's fresh keys for one training. They are erased when it ends: after that, masked
// values stay hidden even from an attacker who gets the site's other keys.
type Keys struct{ private *ecdh.PrivateKey }

// NewKeys draws fresh keys.
func NewKeys() (*Keys, error) {
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	return &Keys{k}, err
}

// KeysOf restores keys from Bytes.
func KeysOf(b []byte) (*Keys, error) {
	k, err := ecdh.X25519().NewPrivateKey(b)
	return &Keys{k}, err
}

// Bytes returns the private keys.
func (k *Keys) Bytes() []byte { return k.private.Bytes() }

// Join consents to a training; training is the digest of its text. units is the number of the site's
// rows or persons if that is public, otherwise 0.
func (k *Keys) Join(training Digest, site string, units int, key ed25519.PrivateKey) Joined {
	j := Joined{Site: site, Fresh: k.private.PublicKey().Bytes(), Units: units}
	j.Signature = ed25519.Sign(key, j.text(training))
	return j
}

// Masks hide a site's answers. Only the sum over a set of sites is revealed. If sites may leave, they hide
// nothing: a sum without a site that has left would stay hidden, too.
type Masks struct {
	set    Digest
	common []pair
}

// pair is the secret that this site shares with another one. One of the two adds the mask and the
// other subtracts it.
type pair struct {
	secret []byte
	adds   bool
}

// NewMasks returns the masks of a site in a set; set is the digest of the set's text.
func (k *Keys) NewMasks(t *Training, training Digest, s *Set, set Digest, site string) (*Masks, error) {
	if err := s.Check(t, training); err != nil {
		return nil, err
	}
	own := -1
	for i := range s.Joined {
		if s.Joined[i].Site == site && string(s.Joined[i].Fresh) == string(k.private.PublicKey().Bytes()) {
			own = i
		}
	}
	if own < 0 {
		return nil, fmt.Errorf("sites: the set must have this site's own fresh key")
	}
	m := &Masks{set: set}
	if t.MayLeave > 0 { // 2.5
		return m, nil
	}
	for i := range s.Joined {
		if i == own {
			continue
		}
		other, err := ecdh.X25519().NewPublicKey(s.Joined[i].Fresh)
		if err != nil {
			return nil, fmt.Errorf("sites: a fresh key of the set must be X25519: %w", err)
		}
		secret, err := k.private.ECDH(other)
		if err != nil {
			return nil, fmt.Errorf("sites: a fresh key of the set must be of large order: %w", err)
		}
		// Keys that differ as bytes may have the same secret. One site would add what another takes off.
		if slices.ContainsFunc(m.common, func(p pair) bool { return bytes.Equal(p.secret, secret) }) { // 2.3
			return nil, fmt.Errorf("sites: each fresh key of the set must be one site's only")
		}
		m.common = append(m.common, pair{secret, own < i})
	}
	return m, nil
}

// Hide adds the masks of one ask to the values; ask is the digest of its text. The masks of a set
// cancel in the sum of all its answers to the same text, and in no other sum (2.1).
func (m *Masks) Hide(ask Digest, values []mech.Whole) error {
	for _, p := range m.common {
		key, err := hkdf.Key(sha256.New, p.secret, []byte(m.set), "discreet sites mask of "+string(ask), 32)
		if err != nil {
			return err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return err
		}
		stream := make([]byte, 16*len(values)) // the key is used for this text alone, so that the counter may begin at 0
		cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
		for i := range values {
			w := mech.Whole{High: binary.BigEndian.Uint64(stream[16*i:]), Low: binary.BigEndian.Uint64(stream[16*i+8:])}
			if p.adds {
				values[i] = values[i].Plus(w)
			} else {
				values[i] = values[i].Minus(w)
			}
		}
	}
	return nil
}

// Encode writes masked numbers.
func Encode(values []mech.Whole) []byte {
	out := make([]byte, 0, 16*len(values))
	for _, w := range values {
		out = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, w.High), w.Low)
	}
	return out
}

// AddUp adds the numbers that Encode wrote to sums, which may be nil at first: else they say how many there are.
func AddUp(sums []mech.Whole, b []byte) ([]mech.Whole, error) {
	if sums == nil {
		sums = make([]mech.Whole, len(b)/16)
	}
	if len(b) != 16*len(sums) {
		return nil, fmt.Errorf("sites: an answer must have %d numbers", len(sums))
	}
	for i := range sums {
		sums[i] = sums[i].Plus(mech.Whole{High: binary.BigEndian.Uint64(b[16*i:]), Low: binary.BigEndian.Uint64(b[16*i+8:])})
	}
	return sums, nil
}
