// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// A key that its process made serves with the certificate that the authority signed: it is that of the
// request, which its folder alone has.
func TestRequestedCertificate(t *testing.T) {
	dir, a := folder(t)
	site, north := t.TempDir(), identity.Caller{Role: identity.Party, Name: "north"}
	digest, err := identity.Request(site, north, []string{"127.0.0.1", "north.example.org"})
	must(t, err)
	signed, err := a.Sign(dir, filepath.Join(site, "party-north.csr"), north, time.Now(), time.Hour)
	must(t, err)
	if signed.Digest != digest || !slices.Equal(signed.Hosts, []string{"north.example.org", "127.0.0.1"}) {
		t.Errorf("signed for %v and %s, want %s", signed.Hosts, signed.Digest, digest)
	}
	if _, err := os.Stat(filepath.Join(dir, "party-north.key")); err == nil {
		t.Error("the authority has the key")
	}
	for _, name := range []string{"party-north.crt", "authority.crt"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(site, name), text, 0o600))
	}
	if id := load(t, site, north); len(id.Server().Certificates) != 1 {
		t.Error("it has no certificate to serve with")
	}
	if _, err := identity.Request(t.TempDir(), north, nil); err == nil {
		t.Error("a server that is nowhere asks for a certificate")
	}
}

// A request that is not signed by its own key, or is for another name, for two, or for a key of another
// kind, is refused.
func TestRequestsThatAreRefused(t *testing.T) {
	dir, a := folder(t)
	north := identity.Caller{Role: identity.Party, Name: "north"}
	name := func(text string) *url.URL { u, _ := url.Parse(text); return u }
	asked := func(key crypto.Signer, urls ...*url.URL) []byte {
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{URIs: urls, DNSNames: []string{"x"}}, key)
		must(t, err)
		return der
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	small, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	must(t, err)
	_, other, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	good := asked(key, name("discreet://party/north"))
	forged := slices.Clone(good)
	forged[len(forged)-1] ^= 1
	for what, der := range map[string][]byte{
		"as it is": good, "forged": forged, "for another name": asked(key, name("discreet://party/south")), "for no name": asked(key),
		"for another role": asked(key, name("discreet://combiner/north")),
		"for two names":    asked(key, name("discreet://party/north"), name("discreet://operator/x")),
		"for a short key":  asked(small, name("discreet://party/north")),
		"for another key":  asked(other, name("discreet://party/north")),
	} {
		path := filepath.Join(t.TempDir(), "r.csr")
		must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), 0o600))
		_, err := a.Sign(dir, path, north, time.Now(), time.Hour)
		if taken := what == "as it is"; (err == nil) != taken {
			t.Errorf("a request %s: %v", what, err)
		} else if taken {
			must(t, os.Remove(filepath.Join(dir, "party-north.crt")))
		}
		if err != nil && strings.Contains(err.Error(), "south") {
			t.Errorf("a request %s is quoted: %v", what, err)
		}
	}
}
