// SPDX-License-Identifier: Apache-2.0

// Package realdata finds the real data sets for tests and benchmarks. They are no
// part of the project: DISCREET_DATASETS names their folder, by default
// ../shared/datasets beside the checkout.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Folder returns the folder of the data sets, whether it exists or not.
func Folder() string {
	if folder := os.Getenv("DISCREET_DATASETS"); folder != "" {
		if abs, err := filepath.Abs(folder); err == nil {
			return abs
		}
		return folder
	}
	return filepath.Join(Root(), "..", "shared", "datasets")
}

// Root returns the root of the checkout that the working folder lies in, or the
// working folder where there is no go.mod above it.
func Root() string {
	start, err := os.Getwd()
	if err != nil {
		return "."
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

// File returns the path of a file or folder of the data sets, e.g.
// "adult/adult.data.gz". It skips the test where that is absent.
func File(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Folder(), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the data set %s: set DISCREET_DATASETS", name)
	}
	return path
}
