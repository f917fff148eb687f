// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"os"
	"slices"
	"testing"
)

// TestLimits holds this repository to its limits.
func TestLimits(t *testing.T) {
	m, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range checkLimits(m) {
		t.Error(complaint)
	}
}

func TestCounts(t *testing.T) {
	for name, c := range map[string]struct {
		count func(*Module) (int, []string)
		files files
		want  int
		which []string
	}{
		"exported": {countExported, files{
			"a.go": "package a\n\nconst A, b = 1, 2\n\ntype C struct{ D, e int }\n\ntype f struct{ G int }\n\n" +
				"func H() {}\nfunc (C) I() {}\nfunc (*C) j() {}\nfunc (f) K() {}\n\ntype L[T any] interface{ M(); n() }\n\n" +
				"func (x *Q[T]) O() {}\n\ntype Q[T any] struct{}",
			"a_test.go":       "package a\n\nfunc P() {}",
			"internal/b/b.go": "package b\n\nfunc R() {}", "cmd/c/c.go": "package main\n\nfunc S() {}",
		}, 9, []string{".: A", ".: C", ".: C.D", ".: H", ".: C.I", ".: L", ".: L.M", ".: Q.O", ".: Q"}},
		"top": {countTopEntries, files{".ci/run": "", "a.go": "package a", "b/b.go": "package b", "out/c": "",
			"demo/t.csv": "", "l.db-wal": "", ".gitignore": "# left\n/out/\n\n/demo/\n/l.db*\n/b/x\n"}, 3,
			[]string{"a.go", "b", "go.mod"}},
		"namesakes": {countNamesakes, files{"a/x/a.go": "package x", "b/x/a.go": "package x", "c/x/a.go": "package x",
			"cmd/a/a.go": "package main", "cmd/b/b.go": "package main"}, 3, nil},
	} {
		n, which := c.count(sample(t, c.files))
		if n != c.want || c.which != nil && !slices.Equal(which, c.which) {
			t.Errorf("%s: %d %q, want %d %q", name, n, which, c.want, c.which)
		}
	}
}

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
