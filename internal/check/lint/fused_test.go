// SPDX-License-Identifier: Apache-2.0

package lint

import "testing"

// The compiler's listing of one line of ours, one of the standard library and one
// that multiplies alone.
func TestFusedMultiplicationsAreFound(t *testing.T) {
	for line, want := range map[string]string{
		"\t0x01a4 00420 (/a/b/c.go:154)\tFMADDD\tF2, F3, F4, F2": "/a/b/c.go:154",
		"\t0x0004 00004 (/a/b/c.go:71)\tFNMSUBS\tF1, F2, F1, F0": "/a/b/c.go:71",
		"\t0x0004 00004 (/a/b/c.go:71)\tFMULD\tF1, F2, F1":       "",
	} {
		got := ""
		if m := fusedMultiplication.FindStringSubmatch(line); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
