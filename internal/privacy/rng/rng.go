// SPDX-License-Identifier: Apache-2.0

// Package rng supplies secure random bits.
package rng

import (
	"crypto/rand"
	"encoding/binary"
)

// Source yields uniform 64-bit words. A Source is not safe for concurrent use.
type Source interface {
	Uint64() uint64
	// Seeded reports whether the words can be reproduced. A model drawn from a
	// seeded source is marked and must not be deployed.
	Seeded() bool
}

// System returns a Source over the operating system's generator (crypto/rand),
// buffered: a word costs a few nanoseconds. Reading cannot fail: crypto/rand
// ends the process if the system has no randomness to give.
func System() Source { return &system{next: bufferBytes} }

const bufferBytes = 1 << 12

type system struct {
	buf  [bufferBytes]byte
	next int
}

func (s *system) Uint64() uint64 {
	if s.next == bufferBytes {
		rand.Read(s.buf[:])
		s.next = 0
	}
	w := binary.LittleEndian.Uint64(s.buf[s.next:])
	clear(s.buf[s.next : s.next+8]) // a word is used once and not kept
	s.next += 8
	return w
}

func (s *system) Seeded() bool { return false }
