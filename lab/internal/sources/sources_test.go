// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The digest changes with the code of a package and of what it imports, with embedded files and go.mod, and with nothing else.
func TestDigest(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const a, b = "package a\n\nimport \"github.com/discreet-dp/discreet/b\"\n\n// A is.\nvar A = b.B\n",
		"package b\n\n//go:embed data\nvar B string\n"
	for name, text := range map[string]string{"go.mod": "module github.com/discreet-dp/discreet\n", "lab/go.mod": "module x\n",
		"a/a.go": a, "a/a_test.go": "package a\n", "b/b.go": b, "b/data": "1", "c/c.go": "package c\n"} {
		write(name, text)
	}
	digest := func() string {
		t.Helper()
		d, err := Digest(root, "a", time.Time{})
		if err != nil || len(d) != 16 {
			t.Fatalf("%q, %v", d, err)
		}
		return d
	}
	was := digest()
	for _, c := range []struct {
		name, text, back string
		same             bool
	}{
		{"a/a.go", "// Package a.\npackage a\n\nimport \"github.com/discreet-dp/discreet/b\"\n\n\n\nvar A = b.B // it is\n", a, true},
		{"a/a_test.go", "package a\n\nvar x int\n", "package a\n", true},
		{"c/c.go", "package c\n\nvar x int\n", "package c\n", true},
		{"a/a.go", "package a\n\nimport \"github.com/discreet-dp/discreet/b\"\n\nvar A = b.B + b.B\n", a, false},
		{"b/b.go", b + "var C int\n", b, false},
		{"b/data", "2", "1", false},
		{"go.mod", "module github.com/discreet-dp/discreet\nrequire y v1\n", "module github.com/discreet-dp/discreet\n", false},
	} {
		write(c.name, c.text)
		if got := digest(); (got == was) != c.same {
			t.Errorf("%s: %q after %q", c.name, got, was)
		}
		write(c.name, c.back)
		if digest() != was {
			t.Errorf("%s put back: another digest", c.name)
		}
	}
	if d, err := Digest(root, "a", time.Now().Add(-time.Hour)); d != "" || err != nil {
		t.Errorf("of code newer than the program: %q, %v", d, err)
	}
	if _, err := Digest(root, "gone", time.Time{}); err == nil {
		t.Error("a package that is not there has a digest")
	}
	if got := Root(filepath.Join(root, "a")); got == "" || Root(t.TempDir()) != "" {
		t.Errorf("root %q", got)
	}
}

// Every paper's code has a digest.
func TestPapersHaveDigests(t *testing.T) {
	root := Root(".")
	seen := map[string]bool{}
	for _, paper := range []string{"shen", "chaudhuri", "wangchang", "hamm"} {
		d, err := Digest(root, "lab/internal/experiment/"+paper, time.Time{})
		if err != nil || seen[d] {
			t.Errorf("%s: %q, %v", paper, d, err)
		}
		seen[d] = true
	}
}
