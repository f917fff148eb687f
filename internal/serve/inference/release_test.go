// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"crypto/ed25519"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/release"
)

// TestOnlySignedReleasesAreServed: a server that demands a signature takes a model of a trusted key
// alone, at the start and later; one that does not takes models and whole releases.
func TestOnlySignedReleasesAreServed(t *testing.T) {
	ours, theirs := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	seal := func(name string, by ed25519.PrivateKey) []byte {
		archive, err := release.Write([]release.File{{Name: release.ModelName, Data: kitFile(t, name)}}, struct{}{}, by)
		if err != nil {
			t.Fatal(err)
		}
		return archive
	}
	signed, foreign, plain := seal("v1-votes", ours), seal("v1-logistic", theirs), kitFile(t, "v1-logistic")
	damaged := bytes.Clone(signed)
	damaged[len(damaged)/2] ^= 1
	path := filepath.Join(t.TempDir(), "risk.zip")
	serve := func(file []byte, trusted release.Trusted) (*Server, error) {
		writeFile(t, path, file)
		o := DefaultOptions()
		o.Log, o.Models, o.Trusted = slog.New(slog.DiscardHandler), []string{path}, trusted
		return New(o)
	}
	trusted := release.Trusted{ours.Public().(ed25519.PublicKey)}
	for name, c := range map[string]struct {
		file    []byte
		trusted release.Trusted
		ok      bool
	}{
		"release": {signed, nil, true}, "another's release": {foreign, nil, true}, "model": {plain, nil, true},
		"damaged release": {damaged, nil, false}, "demanded, release": {signed, trusted, true},
		"demanded, another's release": {foreign, trusted, false}, "demanded, model": {plain, trusted, false},
		"demanded, damaged release": {damaged, trusted, false},
	} {
		s, err := serve(c.file, c.trusted)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && s.models[0].name != "risk" {
			t.Errorf("%s is served as %q", name, s.models[0].name)
		}
	}
	s, err := serve(signed, trusted)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"another's release": foreign, "a model": plain, "a damaged release": damaged} {
		before := s.models[0].now.Load()
		writeFile(t, path, file)
		s.Reload()
		if s.models[0].now.Load() != before {
			t.Errorf("%s takes the place of a signed release", name)
		}
	}
	before := s.models[0].now.Load()
	writeFile(t, path, seal("v1-logistic", ours))
	s.Reload()
	if now := s.models[0].now.Load(); now == before || !strings.HasPrefix(now.m.Learner, "logistic") {
		t.Error("a signed release is not taken over")
	}
}
