// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// TestSplitsAreRepeated splits one addend for one sum always in the same way; another addend, sum
// or owner, and what an answer is drawn by, have other words: two splits of different addends by
// the same words would show their difference.
func TestSplitsAreRepeated(t *testing.T) {
	r := &run{keys: spending.Keys(bytes.Join([][]byte{ed25519.NewKeyFromSeed(make([]byte, 32)),
		ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))}, nil))}
	words := func(owner int, sum byte, addend ...uint64) uint64 {
		return r.splitter(1, secretsum.ID{sum})(owner, addend).Uint64()
	}
	first := words(0, 1, 5, 6)
	if words(0, 1, 5, 6) != first {
		t.Error("one addend is split in two ways")
	}
	for what, w := range map[string]uint64{"addend": words(0, 1, 5, 7), "sum": words(0, 2, 5, 6),
		"owner": words(1, 1, 5, 6), "purpose": r.coins(0, "answer", nil).Uint64()} {
		if w == first {
			t.Errorf("another %s has the same words", what)
		}
	}
	r.Source = func(int) rng.Source { return rng.System() }
	first = words(0, 1, 5, 6)
	if words(0, 1, 5, 6) == first {
		t.Error("a test's source is not used")
	}
}
