// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"bytes"
	"encoding/binary"
)

// Health tests as in NIST SP 800-90B, section 4.4, for samples that are claimed to be uniform. Every
// buffer is tested before a word of it is used. They detect a generator that is stuck, that repeats
// itself, or whose buffer is not filled, but no subtler fault. A sound generator is refused with a
// probability of less than 2^-54 per buffer.
const (
	// Limit on how often a window's first byte may occur in it, itself included: of 511 uniform bytes,
	// 28 or more equal a given one with a probability of less than 2^-68.
	windowBytes  = 512
	mostInWindow = 28
	// tagBytes bytes of each filling are never used as output, but compared with those of the next
	// filling.
	tagBytes = 8
)

// findFault describes the fault of a buffer, "" for none.
func findFault(buf []byte) string {
	for at := 8; at+8 <= len(buf); at += 8 { // repetition count test
		if binary.LittleEndian.Uint64(buf[at-8:]) == binary.LittleEndian.Uint64(buf[at:]) {
			return "it repeats a word"
		}
	}
	for at := 0; at+windowBytes <= len(buf); at += windowBytes { // adaptive proportion test
		if w := buf[at : at+windowBytes]; bytes.Count(w, w[:1]) > mostInWindow {
			return "a byte is too frequent"
		}
	}
	return ""
}
