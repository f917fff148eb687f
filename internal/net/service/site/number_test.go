// SPDX-License-Identifier: Apache-2.0

package site

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A site takes no policy that is older than one it has served, whatever of its state is put back, and no
// other one with the same number.
func TestOlderPoliciesAreRefused(t *testing.T) {
	w := small(t)
	w.params[0].Anchors = anchor.Folder(t.TempDir())
	dir := t.TempDir()
	_, officer, err := ed25519.GenerateKey(nil)
	must(t, err)
	_, successor, err := ed25519.GenerateKey(nil)
	must(t, err)
	write := func(name string, by ed25519.PrivateKey, number int64, until string) *Policy {
		p := *w.policies[0]
		p.Number, p.Until = number, until
		draft, signed := filepath.Join(dir, name), filepath.Join(dir, name+".signed")
		must(t, os.WriteFile(draft, []byte(p.Draft()), 0o600))
		f, err := os.Create(signed)
		must(t, err)
		if said, err := SignPolicy(draft, by, f); err != nil || said.Number != number {
			t.Fatalf("signed number %d: %v", said.Number, err)
		}
		must(t, f.Close())
		read, err := ReadPolicy(signed, by.Public().(ed25519.PublicKey))
		must(t, err)
		return read
	}
	first, third := write("first", officer, 1, "2997-12-31"), write("third", officer, 3, "2998-12-31")
	refused := map[string]*Policy{
		"older":                          first,
		"older that was never served":    write("second", officer, 2, "2999-12-31"),
		"another one of the same number": write("other", officer, 3, "2999-12-31"),
	}
	isRefused := func(err error) bool {
		bad, ok := errors.AsType[*dp.ParamError](err)
		return ok && bad.Param == "number"
	}
	start := func(p *Policy) (*Server, error) {
		params := w.params[0]
		params.Policy, params.State = p, t.TempDir() // as after the loss of the state
		return New(params)
	}
	server, err := start(first)
	must(t, err)
	must(t, server.Replace(third, w.params[0].Key))
	for what, p := range refused {
		if err := server.Replace(p, w.params[0].Key); !isRefused(err) || server.policy() != third {
			t.Errorf("a running site is given a policy that is %s: %v", what, err)
		}
		if _, err := start(p); !isRefused(err) {
			t.Errorf("a site starts with a policy that is %s: %v", what, err)
		}
		if err := p.CheckNewest(w.params[0].Anchors); !isRefused(err) {
			t.Errorf("the check takes a policy that is %s: %v", what, err)
		}
	}
	_, err = start(third)
	must(t, err)
	_, err = start(write("successor's", successor, 1, "2999-12-31")) // who numbers their own
	must(t, err)
	_, err = start(write("fourth", officer, 4, "2999-12-31"))
	must(t, err)
	draft := first.Draft()
	for _, number := range []string{"", "number: 0\n", "number: -1\n"} {
		if _, err := parsePolicy([]byte(strings.Replace(draft, "number: 1 # raise it for each policy that you sign\n", number, 1))); err == nil {
			t.Errorf("a policy with %q is taken", number)
		}
	}
	if lines, err := third.Words(w.schema); err != nil || !strings.HasPrefix(lines[0], "Policy number 3. ") {
		t.Errorf("a policy's words are %q, %v", lines, err)
	}
}
