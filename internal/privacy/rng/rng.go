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
	// Seeded reports whether the words can be reproduced. A model that used a seeded source is marked
	// and must not be deployed.
	Seeded() bool
}

// System returns a Source over the operating system's generator (crypto/rand), buffered: a word costs
// a few nanoseconds. Reading cannot fail: crypto/rand ends the process if the system has no randomness
// to give. If the first buffer fails a health test, System panics, before anything is drawn or
// charged. If a later buffer fails, the Source panics in that call and in all later ones.
func System() Source { return newSystem(func(b []byte) { rand.Read(b) }) }

const bufferBytes = 1 << 12

type system struct {
	fill func(b []byte)
	buf  [bufferBytes + tagBytes]byte
	tag  uint64 // of the previous filling
	next int
}

func newSystem(fill func(b []byte)) *system {
	s := &system{fill: fill}
	s.refill()
	return s
}

// refill fills the buffer and tests it.
func (s *system) refill() {
	s.fill(s.buf[:])
	fault, tag := findFault(s.buf[:bufferBytes]), binary.LittleEndian.Uint64(s.buf[bufferBytes:])
	if tag == s.tag {
		fault = "it begins again"
	}
	if fault != "" {
		s.fill = func([]byte) { panic("rng: the system's random generator failed a health test before") }
		panic("rng: the system's random generator fails a health test: " + fault)
	}
	s.tag, s.next = tag, 0
}

func (s *system) Uint64() uint64 {
	if s.next == bufferBytes {
		s.refill()
	}
	w := binary.LittleEndian.Uint64(s.buf[s.next:])
	clear(s.buf[s.next : s.next+8]) // a word is used once and not kept
	s.next += 8
	return w
}

func (s *system) Seeded() bool { return false }
