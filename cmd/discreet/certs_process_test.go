// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/testkit/crltest"
)

// TestCertificatesOfARunningProcess: it shows the certificate of its file, refuses
// whose was revoked, and reads its files again when it is told to, all without a
// new start.
func TestCertificatesOfARunningProcess(t *testing.T) {
	tr := newTrial(t, 20)
	serving := tr.serve()
	defer func() { serving.Process.Kill(); serving.Wait() }()
	list := func(certs string) error {
		c := exec.Command("discreet-net", "task", "list", "--server", "https://"+tr.address, "--certs", certs, "--as",
			"reader/ben")
		c.Dir = tr.dir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	certs := filepath.Join(tr.dir, "certs")
	// The reader's own folder never hears of a list.
	if err := os.CopyFS(filepath.Join(tr.dir, "ben"), os.DirFS(certs)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(tr.dir, "ben", "reader-ben.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := list("ben"); err != nil {
		t.Fatal(err)
	}

	id, err := identity.Load(certs, identity.Caller{Role: identity.Aggregator, Name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	ends := func() string {
		r, err := http.Get("http://" + tr.page + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(text), "\ndiscreet_certificate_end_seconds ")
		line, _, _ = strings.Cut(line, "\n")
		return line
	}
	end, _ := id.Ends()
	if got, want := ends(), fmt.Sprint(float64(end.Unix())); got != want {
		t.Errorf("the certificate ends at %s, want %s", got, want)
	}
	authority, err := identity.LoadAuthority(certs)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := authority.Issue(id.Caller, []string{"127.0.0.1", aggregatorHost}, time.Now(), 30*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{".key", ".crt"} {
		if err := os.Remove(filepath.Join(certs, "aggregator-main"+end)); err != nil {
			t.Fatal(err)
		}
	}
	if err := renewed.Save(certs); err != nil {
		t.Fatal(err)
	}
	later, _ := renewed.Ends()
	if got, want := ends(), fmt.Sprint(float64(later.Unix())); got != want {
		t.Errorf("renewed, the certificate ends at %s, want %s", got, want)
	}

	crltest.Revoke(t, certs, time.Now(), time.Hour, "reader-ben")
	if err := list("ben"); err == nil {
		t.Error("a revoked reader is answered")
	}
	tr.run("operator/anna", "task", "list", "--server", "https://"+tr.address)

	if err := serving.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; <-time.After(10 * time.Millisecond) {
		log, err := os.ReadFile(filepath.Join(tr.dir, "aggregator.log"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(log, []byte("certificates were read again")) {
			break
		}
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("the log does not say that certificates were read again:\n%s", log)
		}
	}
	tr.run("operator/anna", "task", "list", "--server", "https://"+tr.address)

	c := tr.command("reader/ben", "task", "list", "--server", "https://"+tr.address)
	if out, err := c.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("it was revoked")) {
		t.Errorf("a process starts with a revoked certificate: %v\n%s", err, out)
	}
}
