// SPDX-License-Identifier: Apache-2.0

package frame

import "testing"

// Uses and repeats have words of their own; equal uses have equal words.
func TestStreams(t *testing.T) {
	words := map[uint64]bool{}
	for _, r := range []Repeat{{0, 1, "a/b"}, {1, 1, "a/b"}, {0, 2, "a/b"}, {0, 1, "a/c"}} {
		for _, use := range []string{"x", "y"} {
			w := r.Stream(use).Uint64()
			if words[w] {
				t.Errorf("%+v %s shares its stream", r, use)
			}
			words[w] = true
			if r.Stream(use).Uint64() != w {
				t.Errorf("%+v %s is not reproducible", r, use)
			}
		}
	}
}
