// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"os"
	"path/filepath"
	"testing"
)

// realFile returns the path of one of the real data sets, or skips the test.
func realFile(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("DISCREET_DATASETS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "datasets")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data: %s is not in DISCREET_DATASETS", name)
	}
	return path
}
