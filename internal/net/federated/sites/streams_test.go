// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"bytes"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Masks are of every byte of the two sites' secret, the set and the measurement, and none repeats.
func TestMasksAreNeverRepeated(t *testing.T) {
	words := func(m *Masks, ask Digest, n int) (out []uint64) {
		values := make([]mech.Whole, n)
		must(t, m.Hide(ask, values))
		for _, v := range values {
			out = append(out, v.High, v.Low)
		}
		return out
	}
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "masks from two bytes of a secret, a set or a measurement"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		return words(&Masks{Digest(in[1]), []pair{{in[0], true}}}, Digest(in[2]), 2)
	}, make([]byte, 32), make([]byte, 64), make([]byte, 64))

	seen := map[uint64]bool{}
	for i, w := range words(&Masks{"set", []pair{{make([]byte, 32), true}}}, "ask", 5000) {
		if seen[w] {
			t.Fatalf("word %d of a mask has come before", i)
		}
		seen[w] = true
	}

	about, id, parties, set := assemble(t, 3, 1, pureBill, dp.Price{Epsilon: dp.Nano})
	for i, m := range masksOf(t, about, id, parties, set) {
		for j, k := range slices.DeleteFunc([]int{0, 1, 2}, func(k int) bool { return k == i }) {
			if secret, err := parties[i].keys.private.ECDH(parties[k].keys.private.PublicKey()); err != nil ||
				!bytes.Equal(m.common[j].secret, secret) {
				t.Errorf("sites %d and %d do not mask by all of their secret: %v", i, k, err)
			}
		}
	}
}
