// SPDX-License-Identifier: Apache-2.0

package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSourceIsNamed: make's word is taken, and neither a modified source nor none is one to sign for.
func TestSourceIsNamed(t *testing.T) {
	defer func(was string) { Commit = was }(Commit)
	hash := strings.Repeat("0f", 20)
	for named, want := range map[string]bool{hash: true, hash + " (modified)": false} {
		Commit = named
		if got := Describe("discreet"); NamesSource() != want || !strings.HasPrefix(got, "discreet "+Version()+" "+named+", go") {
			t.Errorf("%q: named %v, want %v", got, NamesSource(), want)
		}
	}
	Commit = "" // a test's program has no source that Go would store
	if got := Describe("discreet"); NamesSource() || !strings.Contains(got, "unknown source") {
		t.Errorf("%q passes for a program with a source", got)
	}
}

// TestManifestsNameTheVersion: files that cannot read VERSION name the same one.
func TestManifestsNameTheVersion(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for file, line := range map[string]string{
		"python/Containerfile":             "ARG VERSION=" + Version() + "\n",
		"packaging/kserve.yaml":            "image: discreet-serve:" + Version() + "\n",
		"packaging/site/compose.yaml":      "image: discreet-net:" + Version() + " #",
		"packaging/site/chart/Chart.yaml":  "\nversion: " + Version() + "\nappVersion: " + Version() + "\n",
		"packaging/site/chart/values.yaml": "image: discreet-net:" + Version() + "\n",
		"README.md":                        "/cmd/discreet@v" + Version() + "\n",
		"CHANGELOG.md":                     "\n## " + Version() + "\n",
	} {
		if text, err := os.ReadFile(filepath.Join(root, file)); err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%s lacks %q (%v)", file, line, err)
		}
	}
}
