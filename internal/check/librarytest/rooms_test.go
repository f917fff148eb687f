// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// Without a product, and without the programs that have it, everything else builds: the compiler is told
// that its files are not there.
func TestTheRestBuildsWithoutAProduct(t *testing.T) {
	size.OnlyLong(t, "builds the module once for each product; TestRepository/rooms reads the imports")
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for product, programs := range map[string][]string{
		"net":      {"discreet-net"},
		"spark":    {"discreet", "discreet-net"},
		"serve":    {"discreet", "discreet-serve"},
		"explorer": {"discreet"},
	} {
		t.Run(product, func(t *testing.T) {
			gone := []string{filepath.Join(root, "internal", product)}
			for _, program := range programs {
				gone = append(gone, filepath.Join(root, "cmd", program))
			}
			absent := map[string]string{}
			for _, folder := range gone {
				err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
					if err == nil && strings.HasSuffix(path, ".go") {
						absent[path] = ""
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			text, err := json.Marshal(map[string]any{"Replace": absent})
			if err != nil {
				t.Fatal(err)
			}
			overlay := filepath.Join(t.TempDir(), "overlay.json")
			if err := os.WriteFile(overlay, text, 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.Command("go", "build", "-overlay", overlay, "./...")
			c.Dir = root
			c.Env = append(os.Environ(), "GOWORK=off")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("without %s: %v\n%s", product, err, out)
			}
		})
	}
}
