// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"bytes"
	"encoding/binary"
)

// Health tests as in NIST SP 800-90B, section 4.4, over every buffer before a word of it
// is used, for samples that are claimed to be uniform. They notice a generator that is
// stuck, that begins again, or whose buffer is not filled; nothing finer. Of a sound
// generator they refuse a buffer with a probability of less than 2^-54.
const (
	// A window's first byte may stand in it so often, itself included: of 511 uniform
	// bytes, 28 or more equal a given one with a probability of less than 2^-68.
	windowBytes  = 512
	mostInWindow = 28
	// tagBytes of each filling are never served, but compared with the next filling's.
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
