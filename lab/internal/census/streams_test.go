// SPDX-License-Identifier: Apache-2.0

package census

import (
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Blocks of rows are drawn by every byte of the seed and the block's number.
func TestBlocksAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "blocks from two bytes of a seed or a number"}
	stattest.Streams(t, c, func(in [][]byte) (out []uint64) {
		var s stream
		s.openBlock(binary.LittleEndian.Uint64(in[0]), binary.LittleEndian.Uint64(in[1]))
		for range 3 {
			out = append(out, uint64(s.nextWord())|uint64(s.nextWord())<<32)
		}
		return out
	}, make([]byte, 8), make([]byte, 8))
}
