// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// A request names one caller, its hosts and the key that stays, whose digest is what was printed.
func TestRequestIsForTheKeyThatStays(t *testing.T) {
	dir, north := t.TempDir(), identity.Caller{Role: identity.Party, Name: "north"}
	digest, err := identity.Request(dir, north, []string{"127.0.0.1", "north.example.org"})
	must(t, err)
	block, rest := pem.Decode(readFiles(t, dir, "party-north.csr"))
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(rest) > 0 {
		t.Fatalf("not one request: %v", block)
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	must(t, err)
	must(t, asked.CheckSignature())
	sum := sha256.Sum256(asked.RawSubjectPublicKeyInfo)
	if hex.EncodeToString(sum[:]) != digest || len(asked.URIs) != 1 || asked.URIs[0].String() != "discreet://party/north" ||
		len(asked.DNSNames) != 1 || len(asked.IPAddresses) != 1 {
		t.Errorf("asks for %v, %v and %v with the digest %x, want %s", asked.URIs, asked.DNSNames, asked.IPAddresses, sum, digest)
	}
	if info, err := os.Stat(filepath.Join(dir, "party-north.key")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the key is not there, or others may read it: %v", err)
	}
	if _, err := identity.Request(dir, north, []string{"x"}); err == nil {
		t.Error("a key was replaced")
	}
	if _, err := identity.Request(t.TempDir(), north, nil); !errors.As(err, new(*dp.ParamError)) {
		t.Errorf("a server that is nowhere asks for a certificate: %v", err)
	}
}

// A trial's certificates are of one authority, also those made later, and end with it.
func TestTrialsHaveOneAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	must(t, identity.SaveTrial(dir, []identity.Caller{mainServer}, []string{"localhost"}, now))
	must(t, identity.SaveTrial(dir, []identity.Caller{clinic}, nil, now.Add(time.Hour)))
	for _, who := range []identity.Caller{mainServer, clinic} {
		if end, _ := load(t, dir, who).Ends(); !end.Equal(leaf(t, dir, "authority").NotAfter) {
			t.Errorf("%s ends at %s", who, end)
		}
	}
	if _, err := handshake(t, load(t, dir, mainServer).Server(), load(t, dir, clinic).Client(identity.Aggregator)); err != nil {
		t.Error(err)
	}
	must(t, os.Remove(filepath.Join(dir, "authority.key")))
	if err := identity.SaveTrial(dir, []identity.Caller{{Role: identity.Owner, Name: "late"}}, nil, now); err == nil {
		t.Error("a second authority was made beside the first one's certificate")
	}
}
