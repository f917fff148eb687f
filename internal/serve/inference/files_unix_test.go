// SPDX-License-Identifier: Apache-2.0

//go:build unix

package inference

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/release"
)

// TestPipesAreRefused: a pipe at a model's path is not waited for, neither at the start nor
// later, and what is there afterwards is taken over.
func TestPipesAreRefused(t *testing.T) {
	s, dir := newServer(t, nil, "v1-votes")
	before := s.models[0].now.Load()
	path := filepath.Join(dir, "v1-votes.json")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	s.Reload()
	if _, err := readRegular(path, release.MaxFile); err == nil || s.models[0].now.Load() != before {
		t.Errorf("a pipe was read: %v", err)
	}
	if _, err := New(s.opts); err == nil {
		t.Error("a pipe is served")
	}
	writeFile(t, path, kitFile(t, "v1-logistic"))
	s.Reload()
	if s.models[0].now.Load() == before {
		t.Error("the file behind the pipe is not taken over")
	}
}
