// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTools holds the repository to what only the go command and its tools can
// count.
func TestTools(t *testing.T) {
	if os.Getenv("DISCREET_TOOLS") == "" {
		t.Skip("takes a minute of processor time: make check")
	}
	m, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("tidy", func(t *testing.T) {
		for _, dir := range append([]string{"."}, m.Nested...) {
			var diff strings.Builder
			err := runTool("go", filepath.Join(root, dir), nil, func(r io.Reader) error {
				_, err := io.Copy(&diff, r)
				return err
			}, "mod", "tidy", "-diff")
			if diff.Len() > 0 {
				t.Errorf("go.mod or go.sum of %s is not tidy; run go mod tidy:\n%s", dir, &diff)
			} else if err != nil {
				t.Skipf("not checked: %v", err) // it wants sums of modules that no build needs, from the network
			}
		}
	})
	t.Run("calls", func(t *testing.T) {
		dir, err := filepath.Abs(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, programs := range [][]string{{"./cmd/discreet", "./cmd/discreet-net", "./cmd/discreet-serve"},
			{"-filter", "^" + m.Path + "/lab/", "./lab/cmd/discreet-lab"}} {
			dead, err := findDead(dir, programs...)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range dead {
				t.Errorf("%s: no program and no user of the library calls it; delete it, or move it to the laboratory", f)
			}
		}
	})
	t.Run("fused", func(t *testing.T) {
		which, err := findFused(root, roundedTwice...)
		if err != nil {
			t.Fatal(err)
		}
		if len(which) > 0 {
			t.Errorf("products are rounded before they are added; write float64(a*b)+c:\n%s", strings.Join(which, "\n"))
		}
	})
}
