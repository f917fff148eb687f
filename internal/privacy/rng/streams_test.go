// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Keyed words are of every byte of key, purpose and subject.
func TestKeyedWordsAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "words from two bytes of a key, a purpose or a subject"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 { return words(Keyed(in[0], string(in[1]), in[2]), 4) },
		make([]byte, 32), make([]byte, 16), make([]byte, 40))
}
