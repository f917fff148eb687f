// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// TestAuthorityWithOpenSSL runs the commands of the operators' guide as they stand there: a process starts
// with the certificate, is renewed with the same key, and no longer starts once it is revoked.
func TestAuthorityWithOpenSSL(t *testing.T) {
	size.OnlyLong(t, "runs another program; TestRevokedCertificates has an authority of the same kind")
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("needs openssl, which is not installed here")
	}
	guide, err := os.ReadFile("../../docs/operators-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, found := strings.Cut(string(guide), "### An authority with OpenSSL\n")
	page, _, ends := strings.Cut(page, "\n### ")
	settings, commands := blocks(page, "```ini\n"), blocks(page, "```sh\n")
	if !found || !ends || len(settings) != 1 || len(commands) != 4 {
		t.Fatalf("the page has %d settings and %d blocks of commands", len(settings), len(commands))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ca.cnf"), []byte(settings[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(script string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "sh", "-euc", script)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	sites := filepath.Join(dir, "north")
	request, sign, revoke := commands[0], commands[2], commands[3]
	asked := run(request)
	run(commands[1])
	signed := run("cp north/party-north.csr .\n" + sign)
	digest := strings.Fields(signed)[0]
	if !strings.Contains(asked, digest) {
		t.Errorf("the authority reads the digest %s, the process %s", digest, asked)
	}
	north := identity.Caller{Role: identity.Party, Name: "north"}
	var certificates []string
	for range 2 {
		run("cp party-north.crt authority.crt north")
		id, err := identity.Load(sites, north)
		if err != nil {
			t.Fatal(err)
		}
		if end, _ := id.Ends(); end.Before(time.Now().Add(29 * 24 * time.Hour)) {
			t.Errorf("the certificate ends at %s", end)
		}
		certificates = append(certificates, run("cat north/party-north.crt"))
		run(sign)
	}
	if certificates[0] == certificates[1] {
		t.Error("the same certificate again")
	}
	// A combiner's certificate, by the same commands: the two speak to each other.
	other := strings.NewReplacer("party/north", "combiner/uni", "party-north", "combiner-uni", ", DNS:north.example.org", "",
		", serverAuth", "", "--host north.example.org", "", "--dir north", "--dir uni")
	run(other.Replace(request) + "cp uni/combiner-uni.csr .\n" + other.Replace(sign) + "cp combiner-uni.crt authority.crt uni")
	uni, err := identity.Load(filepath.Join(dir, "uni"), identity.Caller{Role: identity.Combiner, Name: "uni"})
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.Load(sites, north)
	if err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	defer here.Close()
	calling := uni.Client(identity.Party)
	calling.ServerName = "north.example.org"
	served := make(chan error, 1)
	go func() { served <- tls.Server(there, id.Server()).HandshakeContext(t.Context()) }()
	if err := errors.Join(tls.Client(here, calling).HandshakeContext(t.Context()), <-served); err != nil {
		t.Errorf("the combiner calls the party: %v", err)
	}
	vote, err := id.Sign("vote", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := uni.Verify(vote, "vote", []byte("text"), time.Now()); err != nil || who != north {
		t.Errorf("signed by %s, %v", who, err)
	}
	run("discreet-net doctor --certs north\n" + revoke + "cp crl.pem uni\n")
	if _, err := uni.Verify(vote, "vote", []byte("text"), time.Now()); err == nil || !strings.Contains(err.Error(), "it was revoked") {
		t.Errorf("a revoked party: %v", err)
	}
	for i, text := range certificates {
		if err := os.WriteFile(filepath.Join(sites, "party-north.crt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run("cp crl.pem north")
		if _, err := identity.Load(sites, north); err == nil || !strings.Contains(err.Error(), "it was revoked") {
			t.Errorf("revoked, certificate %d starts: %v", i, err)
		}
	}
	if _, err := identity.Load(filepath.Join(dir, "uni"), uni.Caller); err != nil {
		t.Errorf("who was not revoked: %v", err)
	}
}

// blocks returns the blocks of a page that open with a fence.
func blocks(page, fence string) (all []string) {
	for _, block := range strings.Split(page, fence)[1:] {
		text, _, _ := strings.Cut(block, "```")
		all = append(all, text)
	}
	return all
}
