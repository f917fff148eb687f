// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Keys of persons are of every byte of the secret and the identifier.
func TestKeysOfPersonsAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "keys of persons from two bytes of a secret or an identifier"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		p := NewPersonKeys([32]byte(in[0]))
		p.ids.numberOf(in[1])
		key := p.ByNumber()[1]
		return []uint64{binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])}
	}, make([]byte, 32), make([]byte, 20))
}
