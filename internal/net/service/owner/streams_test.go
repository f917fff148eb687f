// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"crypto/ed25519"
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// Coins of owners are of every byte of their key, the purpose and the subject; splits also of the addend.
func TestCoinsOfOwnersAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "coins from two bytes of a key, a subject, a sum or an addend"}
	keyed := func(seed []byte) *run { return &run{keys: spending.Keys(ed25519.NewKeyFromSeed(seed))} }
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		s := keyed(in[0]).coins(0, string(in[1]), in[2])
		return []uint64{s.Uint64(), s.Uint64()}
	}, make([]byte, 32), make([]byte, 12), make([]byte, 32))
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		addend := []uint64{binary.LittleEndian.Uint64(in[2]), binary.LittleEndian.Uint64(in[2][8:])}
		s := keyed(in[0]).splitter(0, secretsum.ID(in[1]))(0, addend)
		return []uint64{s.Uint64(), s.Uint64()}
	}, make([]byte, 32), make([]byte, len(secretsum.ID{})), make([]byte, 16))
}
