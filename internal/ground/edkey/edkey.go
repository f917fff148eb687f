// SPDX-License-Identifier: Apache-2.0

// Package edkey refuses Ed25519 public keys that do not identify a signer.
package edkey

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"slices"
)

// The reasons of Check.
var (
	ErrLength    = errors.New("a public key has 32 bytes")
	ErrCanonical = errors.New("the public key is not in canonical form: two names for one owner")
	ErrOrder     = errors.New("the public key is of small order: anyone can sign for it")
)

// prime is 2^255 - 19, little-endian.
var prime = append(append([]byte{0xed}, slices.Repeat([]byte{0xff}, 30)...), 0x7f)

// small holds the y-coordinates of the eight points whose order divides 8.
var small = [][]byte{
	make([]byte, 32),                       // order 4, both signs
	append([]byte{1}, make([]byte, 31)...), // the neutral element
	append(append([]byte{0xec}, slices.Repeat([]byte{0xff}, 30)...), 0x7f),    // order 2
	unhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), // order 8, both signs
	unhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), // order 8, both signs
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err) // a constant
	}
	return b
}

// Check refuses a key that is not the only encoding of its point, or whose point has a small order. A
// key that is not a point is accepted, because it can never verify a signature.
func Check(key []byte) error {
	if len(key) != ed25519.PublicKeySize {
		return ErrLength
	}
	y := slices.Clone(key)
	y[31] &= 0x7f // without the sign of x
	for i := 31; ; i-- {
		if y[i] != prime[i] {
			if y[i] > prime[i] {
				return ErrCanonical
			}
			break
		}
		if i == 0 {
			return ErrCanonical
		}
	}
	for _, s := range small {
		if slices.Equal(y, s) {
			return ErrOrder
		}
	}
	return nil
}
