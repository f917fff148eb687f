// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"encoding/binary"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

func wordsOf(b []byte, n int) (out []uint64) {
	for i := range n {
		out = append(out, binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

// Challenges, commitments and the digests of tasks are of every byte that they are about: a challenge that
// an owner could foresee, or that two proofs share, would prove nothing.
func TestChallengesAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "challenges from two bytes of what was committed"}
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		r := &ranges{shamir: &shamir{tag: Tag(in[0])}}
		z := r.draw(int(binary.LittleEndian.Uint32(in[1])), in[2][0], in[3])
		return wordsOf(z.Append(nil), 3)
	}, make([]byte, len(Tag{})), make([]byte, 4), make([]byte, 1), make([]byte, 64))
	stattest.Streams(t, c, func(in [][]byte) []uint64 {
		s := &shamir{tag: Tag(in[0])}
		h := s.hashFor(string(in[1]), int(binary.LittleEndian.Uint32(in[2])), int(binary.LittleEndian.Uint32(in[3])), in[4])
		return wordsOf(h[:], 4)
	}, make([]byte, len(Tag{})), make([]byte, 8), make([]byte, 4), make([]byte, 4), make([]byte, 64))
}

// Of the generators none is another one: with two equal ones a commitment opens in two ways.
func TestGeneratorsAreNeverRepeated(t *testing.T) {
	seen := map[string]bool{}
	for i, g := range listGenerators(1500) {
		b, err := g.MarshalBinary()
		if err != nil || seen[string(b)] {
			t.Fatalf("generator %d is there before (%v)", i, err)
		}
		seen[string(b)] = true
	}
}
