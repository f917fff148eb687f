// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// patience is long enough for what ends at all.
const patience = 5 * time.Minute

// strangers is servers that are not what commands believe them to be.
type strangers struct {
	t         *testing.T
	authority *identity.Authority
	heard     atomic.Int64 // requests that came in clear
	clear     string       // http://host:port
}

func newStrangers(t *testing.T) *strangers {
	t.Helper()
	tr := newTrial(t, 60)
	t.Chdir(tr.dir)
	a, err := identity.LoadAuthority("certs")
	if err != nil {
		t.Fatal(err)
	}
	s := &strangers{t: t, authority: a}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.heard.Add(1)
		problem.New(problem.Forbidden, "").Write(w)
	}))
	t.Cleanup(listener.Close)
	s.clear = listener.URL
	for _, c := range []identity.Caller{{Role: identity.Combiner, Name: "uni"}, {Role: identity.Party, Name: "mary"},
		{Role: identity.Helper, Name: "one"}, {Role: identity.Helper, Name: "two"}, {Role: identity.Helper, Name: "three"}} {
		s.issue(a, c, time.Now(), time.Hour)
	}
	key := strings.TrimSpace(runDiscreet(t, "keygen", "--out", "mary.pem"))
	s.write("mary.key", key)
	s.write("john.key", strings.TrimSpace(runDiscreet(t, "keygen", "--out", "john.pem")))
	return s
}

func (s *strangers) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// issue writes a certificate into certs and returns it.
func (s *strangers) issue(a *identity.Authority, c identity.Caller, from time.Time,
	life time.Duration) *identity.Identity {
	s.t.Helper()
	id, err := a.Issue(c, []string{"127.0.0.1"}, from, life)
	if err == nil {
		err = id.Save("certs")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// serve serves a handler under a caller's certificate, and returns the address.
func (s *strangers) serve(settings *tls.Config, h http.Handler) string {
	s.t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.TLS, server.EnableHTTP2 = settings, true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.StartTLS()
	s.t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// as serves under the certificate in certs.
func (s *strangers) as(c identity.Caller, h http.Handler) string {
	s.t.Helper()
	id, err := identity.Load("certs", c)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.serve(id.Server(), h)
}

// exits runs a command that must fail, and returns what it says.
func (s *strangers) exits(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var talk bytes.Buffer
	// a combination of no one's votes is one
	_ = cli.Run(ctx, newBoth, args, nil, strings.NewReader(""), io.Discard, &talk)
	if ctx.Err() != nil {
		s.t.Errorf("discreet %s does not end:\n%s", strings.Join(args, " "), &talk)
	}
	return talk.String()
}

// calls are the commands that call someone, by the role of whom they call.
func (s *strangers) calls(role identity.Role, url func(name string) string) map[string][]string {
	s.t.Helper()
	task := strings.Repeat("0", 64)
	combine := []string{"site", "vote", "--certs", "certs", "--as", "combiner/uni", "--wait", "1h", "--aux", "census.csv",
		"--schema", "census.yaml", "--parties", "2", "--epsilon", "4", "--model", "m.json", "--sites", "peers.txt"}
	peers := func(addresses ...string) {
		var b strings.Builder
		for i, name := range []string{"mary", "john"}[:len(addresses)] {
			key, err := os.ReadFile(name + ".key")
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s %s\n", addresses[i], strings.TrimSpace(string(key)), name)
		}
		s.write("peers.txt", b.String())
	}
	switch role {
	case identity.Aggregator:
		at := url("main")
		return map[string][]string{
			"task create": {"task", "create", "--certs", "certs", "--as", "operator/anna", "--server", at, "--schema",
				"census.yaml", "--classifier", "stump", "--epsilon", "2", "--owners", "3000", "--minimum", "20", "--ends", "3h",
				"--rounds", "1", "--slot", "1h", "--quiet", "1s"},
			"task list": {"task", "list", "--certs", "certs", "--as", "reader/ben", "--server", at},
			"task show": {"task", "show", task, "--certs", "certs", "--as", "reader/ben", "--server", at, "--wait"},
			"owner": {"owner", "--certs", "certs", "--as", "owner/clinic", "--server", at, "--task", task, "--data",
				"census.csv", "--book", "book.db", "--max-epsilon", "2", "--lifetime-epsilon", "2", "--owners", "60"},
		}
	case identity.Party:
		peers(url("mary"))
		return map[string][]string{"site vote --sites": combine}
	default:
		peers("https://127.0.0.1:1", "https://127.0.0.1:2")
		return map[string][]string{"site vote --secure-sum": append(combine, "--secure-sum", "--honest", "2", "--helpers",
			"one="+url("one")+",two="+url("two")+",three="+url("three"))}
	}
}

// TestNobodyFollowsRedirects has servers with good certificates send every command
// that calls one elsewhere, in clear: signed reports would lie open on the way.
func TestNobodyFollowsRedirects(t *testing.T) {
	s := newStrangers(t)
	for _, status := range []int{301, 302, 307, 308} {
		for _, role := range []identity.Role{identity.Aggregator, identity.Party, identity.Helper} {
			calls := s.calls(role, func(name string) string {
				return s.as(identity.Caller{Role: role, Name: name}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, s.clear+r.URL.Path, status)
				}))
			})
			for name, args := range calls {
				said := s.exits(args...)
				if n := s.heard.Swap(0); n > 0 {
					t.Errorf("%s, %d: %d requests went on in clear", name, status, n)
				}
				if want := "redirect"; !strings.Contains(said, want) {
					t.Errorf("%s, %d: must say %q:\n%s", name, status, want, said)
				}
			}
		}
	}
}

// TestWrongCertificatesEndCommands has servers, and then callers, show certificates
// that no later try makes good. Every command ends at once, and says what is wrong.
func TestWrongCertificatesEndCommands(t *testing.T) {
	s := newStrangers(t)
	now, life := time.Now(), time.Hour
	other, err := identity.NewAuthority(now, 2*life)
	if err != nil {
		t.Fatal(err)
	}
	nobody := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s is called", r.URL.Path)
	})
	good := func(a *identity.Authority, c identity.Caller, from time.Time) *identity.Identity {
		id, err := a.Issue(c, []string{"127.0.0.1"}, from, life)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for name, k := range map[string]struct {
		server func(identity.Caller) *tls.Config
		want   string
	}{
		"another role": {func(identity.Caller) *tls.Config {
			return good(s.authority, identity.Caller{Role: identity.Owner, Name: "x"}, now).Server()
		}, "server's certificate"},
		"another server": {func(c identity.Caller) *tls.Config {
			role := identity.Helper
			if c.Role == role {
				role = identity.Party
			}
			return good(s.authority, identity.Caller{Role: role, Name: "x"}, now).Server()
		}, "/x, want"},
		"another authority": {func(c identity.Caller) *tls.Config { return good(other, c, now).Server() },
			"another authority than the caller's"},
		"an ended one": {func(c identity.Caller) *tls.Config { return good(s.authority, c, now.Add(-2*life)).Server() },
			"and not now"},
		"another host": {func(c identity.Caller) *tls.Config {
			id, err := s.authority.Issue(c, []string{"example.org"}, now, life)
			if err != nil {
				t.Fatal(err)
			}
			return id.Server()
		}, "127.0.0.1"},
		"a server of another authority's callers": {func(c identity.Caller) *tls.Config {
			settings, callers := good(s.authority, c, now).Server(), good(other, c, now).Server().GetConfigForClient
			ours := settings.GetConfigForClient
			settings.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				one, err := ours(hello)
				theirs, err2 := callers(hello)
				if err = errors.Join(err, err2); err == nil {
					one.ClientCAs = theirs.ClientCAs
				}
				return one, err
			}
			return settings
		}, "does not take the caller's certificate"},
	} {
		for _, role := range []identity.Role{identity.Aggregator, identity.Party, identity.Helper} {
			for command, args := range s.calls(role,
				func(name string) string { return s.serve(k.server(identity.Caller{Role: role, Name: name}), nobody) }) {
				if said := s.exits(args...); !strings.Contains(said, k.want) {
					t.Errorf("%s, %s: must say %q:\n%s", command, name, k.want, said)
				}
			}
		}
	}
	// Callers whose own certificates have ended.
	for _, c := range []identity.Caller{{Role: identity.Owner, Name: "clinic"}, {Role: identity.Operator, Name: "anna"},
		{Role: identity.Reader, Name: "ben"}, {Role: identity.Combiner, Name: "uni"}} {
		for _, end := range []string{".crt", ".key"} {
			if err := os.Remove("certs/" + string(c.Role) + "-" + c.Name + end); err != nil {
				t.Fatal(err)
			}
		}
		s.issue(s.authority, c, now.Add(-2*life), life)
	}
	for _, role := range []identity.Role{identity.Aggregator, identity.Party, identity.Helper} {
		for command, args := range s.calls(role,
			func(name string) string { return s.as(identity.Caller{Role: role, Name: name}, nobody) }) {
			if said := s.exits(args...); !strings.Contains(said, "certificate ended at") {
				t.Errorf("%s with an ended certificate says:\n%s", command, said)
			}
		}
	}
}
