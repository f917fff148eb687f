// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Lots are of every byte of their key, and of 32 bits for each of its words.
func TestLotsAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "lots from two bytes of a key"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		rest := in[0]
		l := NewLots(func(n uint64) uint64 {
			w := uint64(binary.LittleEndian.Uint32(rest)) % n
			rest = rest[4:]
			return w
		})
		return l.between(3, 7)
	}, make([]byte, 32))
}
