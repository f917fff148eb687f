// SPDX-License-Identifier: Apache-2.0

package stattest_test

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Streams finds inputs that are cut, bytes that do not count, words that repeat within a stream, and
// streams that are one another's shift or complement.
func TestStreams(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "an input that is cut to two bytes"}
	words := func(in ...[]byte) []uint64 {
		h := sha256.Sum256(slices.Concat(in...))
		return []uint64{binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])}
	}
	like := [][]byte{make([]byte, 32), make([]byte, 8)}
	stattest.Streams(t, c, func(in [][]byte) []uint64 { return words(in...) }, like...)
	for what, derive := range map[string]func(in [][]byte) []uint64{
		"cut to two bytes":       func(in [][]byte) []uint64 { return words(in[0][:2], in[1]) },
		"without its last byte":  func(in [][]byte) []uint64 { return words(in[0], in[1][:7]) },
		"with words that repeat": func(in [][]byte) []uint64 { w := words(in...); return append(w, w[0]) },
		"with words beside each other that correlate": func(in [][]byte) []uint64 {
			w := words(in...)
			w[1] = ^w[0] ^ w[2]&(w[2]>>1)&(w[2]>>2)
			return w
		},
		"a shift of their input": func(in [][]byte) []uint64 {
			h := words(in...)
			return []uint64{h[0] & h[1], h[1], h[2]}
		},
	} {
		stattest.Rejects(t, func(t stattest.T) { stattest.Streams(t, c, derive, like...) })
		_ = what
	}
}
