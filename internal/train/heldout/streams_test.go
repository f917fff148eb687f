// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Coins are of every byte of the key and the subject.
func TestCoinsOfSplitsAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 1e-9, Detects: "coins from two bytes of a key or a subject"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		s := (&Split{Key: [32]byte(in[0])}).coins(in[1])
		return []uint64{s.Uint64(), s.Uint64()}
	}, make([]byte, 32), make([]byte, 16))
}
