// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Seeded words are of every byte of seed and stream.
func TestSeededWordsAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "words from two bytes of a seed"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		s := Seeded(binary.LittleEndian.Uint64(in[0]), string(in[1]))
		return []uint64{s.Uint64(), s.Uint64(), s.Uint64()}
	}, make([]byte, 8), make([]byte, 16))
}
