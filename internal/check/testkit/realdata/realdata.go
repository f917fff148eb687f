// SPDX-License-Identifier: Apache-2.0

// Package realdata finds the real data sets for tests and benchmarks. They are not part of the
// project: DISCREET_DATASETS names their folder, by default ../shared/datasets next to the checkout.
package realdata

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// product is the beginning of the go.mod in the checkout's root.
var product = []byte("module github.com/discreet-dp/discreet\n")

// Folder returns the folder of the data sets, which need not exist.
func Folder() string {
	if folder := os.Getenv("DISCREET_DATASETS"); folder != "" {
		if abs, err := filepath.Abs(folder); err == nil {
			return abs
		}
		return folder
	}
	return filepath.Join(Root(), "..", "shared", "datasets")
}

// Root returns the root of the checkout that contains the working folder, in any of its modules, or
// the working folder if there is none.
func Root() string {
	start, err := os.Getwd()
	if err != nil {
		return "."
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(mod, product) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

// File returns the path of a file or folder of the data sets, e.g.
// "adult/adult.data.gz". It skips the test if that is absent, or if tests do not run at full size.
func File(t testing.TB, name string) string {
	t.Helper()
	size.OnlyLong(t, "reads a real table")
	path := filepath.Join(Folder(), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the data set %s: set DISCREET_DATASETS", name)
	}
	return path
}
