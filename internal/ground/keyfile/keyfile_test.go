// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func TestKeysAreReadBack(t *testing.T) {
	private := filepath.Join(t.TempDir(), "k")
	public, err := New("release", private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := Read("release", private)
	if err != nil || !bytes.Equal(key.Public().(ed25519.PublicKey), public) {
		t.Fatalf("another key: %v", err)
	}
	if info, err := os.Stat(private); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	one, err := ReadOne("verify", "keys", private+".pub")
	if err != nil || !bytes.Equal(one, public) {
		t.Errorf("another public half: %v", err)
	}
	keys, err := ReadPublic("verify", private+".pub")
	if err != nil || len(keys) != 1 || !bytes.Equal(keys[0], public) || len(ID(public)) != 64 {
		t.Errorf("%v, %v", keys, err)
	}
	if _, err := New("release", private); err == nil {
		t.Error("a key is replaced")
	}
	if err := WritePublic("release", private, public); err == nil {
		t.Error("a key is replaced by its public half")
	}
	lone := filepath.Join(t.TempDir(), "lone")
	if err := WritePublic("release", lone+".pub", public); err != nil {
		t.Fatal(err)
	}
	if _, err := New("release", lone); err == nil {
		t.Error("a public half is replaced")
	}
	if _, err := os.Stat(lone); err == nil {
		t.Error("half a pair is left")
	}
	if err := os.WriteFile(lone, slices.Repeat(text(t, private+".pub"), 2), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOne("verify", "keys", lone); !errors.As(err, new(*dp.ParamError)) {
		t.Errorf("two keys where one is wanted: %v", err)
	}
	if _, err := ReadPublic("verify", private); err == nil {
		t.Error("a private key is taken for public ones")
	}
	if _, err := Read("release", private+".pub"); err == nil {
		t.Error("a public key is taken for a private one")
	}
}

func text(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPublicKeysAndNothingElse: what is not a list of keys that someone holds is refused.
func TestPublicKeysAndNothingElse(t *testing.T) {
	spell := func(key any) string {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der}))
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := spell(public)
	for text, want := range map[string]string{
		"": "must hold a public key", "CANARY\n": "nothing else", good + "CANARY\n": "nothing else",
		"CANARY\n" + good: "nothing else", good + good[:40]: "nothing else",
		strings.Replace(good, "\n", "\nCANARY: x\n\n", 1):                "nothing else",
		strings.ReplaceAll(good, publicBlock, "CERTIFICATE"):             "nothing else",
		spell(&curve.PublicKey):                                          "Ed25519 keys alone",
		spell(ed25519.PublicKey(append([]byte{1}, make([]byte, 31)...))): "small order",
		strings.Repeat(good, maxKeys+1):                                  "at most",
	} {
		if _, err := ParsePublic([]byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%.60q: must be refused with %q, got %v", text, want, err)
		}
	}
	if keys, err := ParsePublic([]byte(good + "\n" + good)); err != nil || len(keys) != 2 {
		t.Errorf("two keys: %d, %v", len(keys), err)
	}
}

// FuzzPublic: what is read as keys are keys, and can be written.
func FuzzPublic(f *testing.F) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der}))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := ParsePublic(text)
		if err == nil && len(keys) == 0 {
			t.Error("no keys")
		}
		for _, key := range keys {
			if len(ID(key)) != 64 {
				t.Errorf("%x has no name", key)
			}
		}
	})
}
