// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
)

// Keyed returns a Source whose words are determined by a secret key, a purpose and a subject: AES-256
// in counter mode, under a key that HKDF with SHA-256 (RFC 5869) derives from these. The same key,
// purpose and subject give the same words. Without knowledge of the key, words of different subjects
// are independent and uniform, as far as HKDF and AES are pseudorandom functions. The key must have at
// least 32 bytes from the system's generator.
func Keyed(key []byte, purpose string, subject []byte) Source {
	if len(key) < 32 {
		panic("rng: a key must have 32 bytes at least")
	}
	digest := sha256.Sum256(subject)
	derived, err := hkdf.Key(sha256.New, key, nil, "discreet coins 1\x00"+purpose+"\x00"+string(digest[:]), 32)
	if err != nil {
		panic("rng: " + err.Error()) // 32 bytes are not too many
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		panic("rng: " + err.Error()) // a derived key has the right length
	}
	s := &keyed{stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
	s.next = len(s.buf)
	return s
}

type keyed struct {
	stream cipher.Stream
	buf    [256]byte
	next   int
}

func (s *keyed) Uint64() uint64 {
	if s.next == len(s.buf) {
		clear(s.buf[:])
		s.stream.XORKeyStream(s.buf[:], s.buf[:])
		s.next = 0
	}
	w := binary.LittleEndian.Uint64(s.buf[s.next:])
	s.next += 8
	return w
}

// Seeded is false, because the words cannot be reproduced without the key.
func (s *keyed) Seeded() bool { return false }
