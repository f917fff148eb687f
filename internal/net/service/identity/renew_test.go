// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	mainServer = identity.Caller{Role: identity.Aggregator, Name: "main"}
	clinic     = identity.Caller{Role: identity.Owner, Name: "clinic"}
)

// folder is an authority's directory with a server's and an owner's certificates.
func folder(t *testing.T) (dir string, a *identity.Authority) {
	t.Helper()
	dir, a = t.TempDir(), authority(t)
	must(t, a.Save(dir))
	must(t, issue(t, a, mainServer.Role, mainServer.Name).Save(dir))
	must(t, issue(t, a, clinic.Role, clinic.Name).Save(dir))
	return dir, a
}

func load(t *testing.T, dir string, who identity.Caller) *identity.Identity {
	t.Helper()
	id, err := identity.Load(dir, who)
	must(t, err)
	return id
}

func readFiles(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return b
}

func put(t *testing.T, dir, name string, parts ...[]byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), bytes.Join(parts, nil), 0o644))
}

// newDialer connects as a transport does.
func newDialer(id *identity.Identity, server identity.Role) func(string) (net.Conn, error) {
	dial := id.Dial(server)
	return func(address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return dial(context.Background(), "tcp", "localhost:"+port)
	}
}

// TestRenewedCertificatesAreTakenUp: both ends show the certificate that their files
// hold when a connection begins, under settings that were made before.
func TestRenewedCertificatesAreTakenUp(t *testing.T) {
	dir, a := folder(t)
	server, owner := load(t, dir, mainServer), load(t, dir, clinic)
	settings, dial := server.Server(), newDialer(owner, identity.Aggregator)
	var seen [2]string
	settings.GetConfigForClient = watching(settings.GetConfigForClient, &seen[0])
	serials := map[string]bool{}
	for turn := range 3 {
		if turn > 0 {
			for _, who := range []identity.Caller{mainServer, clinic} {
				if _, err := a.Renew(dir, who, now, year/2); err != nil {
					t.Fatal(err)
				}
			}
		}
		_, err := connect(t, settings, func(address string) (net.Conn, error) {
			c, err := dial(address)
			if err == nil {
				seen[1] = c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
			}
			return c, err
		})
		must(t, err)
		for _, s := range seen {
			serials[s] = true
		}
		if want := 2 * (turn + 1); len(serials) != want {
			t.Fatalf("turn %d: %d certificates were seen in all, want %d", turn, len(serials), want)
		}
	}
}

// watching notes the serial number of each client's certificate.
func watching(of func(*tls.ClientHelloInfo) (*tls.Config, error),
	serial *string) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		c, err := of(h)
		if err != nil {
			return nil, err
		}
		inner := c.VerifyConnection
		c.VerifyConnection = func(s tls.ConnectionState) error {
			*serial = s.PeerCertificates[0].SerialNumber.String()
			return inner(s)
		}
		return c, nil
	}
}

// TestBetweenTwoFiles: a certificate and its key are replaced one after the other,
// and who looks in between keeps what it had.
func TestBetweenTwoFiles(t *testing.T) {
	dir, a := folder(t)
	server, owner := load(t, dir, mainServer), load(t, dir, clinic)
	settings := server.Server()
	fresh := t.TempDir()
	must(t, issue(t, a, mainServer.Role, mainServer.Name).Save(fresh))
	for _, name := range []string{"aggregator-main.key", "aggregator-main.crt"} {
		must(t, os.Rename(filepath.Join(fresh, name), filepath.Join(dir, name)))
		if _, err := handshake(t, settings, owner.Client(identity.Aggregator)); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
	must(t, server.Reload())
}

// TestAuthoritiesAreReplaced: for a while two are trusted, then the new one alone,
// and no one is started again.
func TestAuthoritiesAreReplaced(t *testing.T) {
	dir, _ := folder(t)
	server, owner := load(t, dir, mainServer), load(t, dir, clinic)
	settings := server.Server()
	next := authority(t)
	nextDir := t.TempDir()
	must(t, next.Save(nextDir))
	late := issue(t, next, clinic.Role, "late")
	if _, err := handshake(t, settings, late.Client(identity.Aggregator)); err == nil {
		t.Fatal("an authority that nobody named was trusted")
	}

	put(t, dir, "authority.crt", readFiles(t, dir, "authority.crt"), readFiles(t, nextDir, "authority.crt"))
	must(t, late.Save(nextDir))
	put(t, nextDir, "authority.crt", readFiles(t, dir, "authority.crt"))
	late = load(t, nextDir, late.Caller)
	for _, id := range []*identity.Identity{owner, late} {
		if _, err := handshake(t, settings, id.Client(identity.Aggregator)); err != nil {
			t.Errorf("%s, while two authorities are trusted: %v", id.Caller, err)
		}
	}
	// The new authority's key renews what the old one has signed.
	both, err := identity.LoadAuthority(nextDir)
	must(t, err)
	if _, err := both.Renew(dir, mainServer, now, year/2); err != nil {
		t.Fatal(err)
	}
	// As an open connection has it.
	chain := [][]*x509.Certificate{{leaf(t, dir, "owner-clinic"), leaf(t, dir, "authority")}}
	if _, err := server.Peer(&tls.ConnectionState{VerifiedChains: chain}); err != nil {
		t.Errorf("an open connection of the old authority: %v", err)
	}

	put(t, dir, "authority.crt", pemOf(t, nextDir, both))
	if _, err := handshake(t, settings, late.Client(identity.Aggregator)); err != nil {
		t.Errorf("the new authority alone: %v", err)
	}
	if _, err := handshake(t, settings, owner.Client(identity.Aggregator)); err == nil {
		t.Error("the old authority is trusted when it is gone")
	}
	if _, err := server.Peer(&tls.ConnectionState{VerifiedChains: chain}); !errors.Is(err, identity.ErrStale) {
		t.Errorf("an open connection of the old authority: err = %v, want ErrStale", err)
	}
}

// leaf is a certificate as its file has it.
func leaf(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	c, _ := onDisk(t, dir, name)
	return c
}

// pemOf is the text of one authority's certificate.
func pemOf(t *testing.T, dir string, a *identity.Authority) []byte {
	t.Helper()
	out := t.TempDir()
	must(t, a.Save(out))
	return readFiles(t, out, "authority.crt")
}

// TestRevokedCertificates are refused by running processes: at the handshake, on open
// connections, and under what they have signed; renewed ones as well, and no others.
func TestRevokedCertificates(t *testing.T) {
	dir, a := folder(t)
	other := identity.Caller{Role: identity.Owner, Name: "other"}
	must(t, issue(t, a, other.Role, other.Name).Save(dir))
	server, owner, kept := load(t, dir, mainServer), load(t, dir, clinic), load(t, dir, other)
	settings := server.Server()
	root := leaf(t, dir, "authority")
	before := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf(t, dir, "owner-clinic"), root}}}
	if _, err := a.Renew(dir, clinic, now, year/2); err != nil {
		t.Fatal(err)
	}
	after := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf(t, dir, "owner-clinic"), root}}}
	signed, err := owner.Sign("task", []byte("text"))
	must(t, err)
	try := func() (errs []error) {
		_, err := handshake(t, settings, owner.Client(identity.Aggregator))
		_, open := server.Peer(before)
		_, renewed := server.Peer(after)
		_, verified := server.Verify(signed, "task", []byte("text"), time.Now())
		return []error{err, open, renewed, verified}
	}
	for k, err := range try() {
		if err != nil {
			t.Errorf("before, try %d: %v", k, err)
		}
	}
	n, err := a.Revoke(dir, []identity.Caller{clinic}, now, year/4)
	if err != nil || n != 2 {
		t.Fatalf("%d certificates on the list, %v, want 2", n, err)
	}
	for k, err := range try() {
		if err == nil {
			t.Errorf("after, try %d: it was let in", k)
		}
	}
	if _, err := handshake(t, settings, kept.Client(identity.Aggregator)); err != nil {
		t.Errorf("another owner: %v", err)
	}
	// Servers are refused by their callers as well, and the list keeps what it had.
	if n, err := a.Revoke(dir, []identity.Caller{mainServer}, now, year/4); err != nil || n != 3 {
		t.Fatalf("%d certificates on the list, %v, want 3", n, err)
	}
	if _, err := connect(t, settings, newDialer(kept, identity.Aggregator)); err == nil {
		t.Error("a revoked server was called")
	}
	if _, err := identity.Load(dir, clinic); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a process starts with a revoked certificate: %v", err)
	}
}

// TestRevokedServersAreNotCalled, not over a connection that stood before either: what
// a caller has to say does not reach them.
func TestRevokedServersAreNotCalled(t *testing.T) {
	for _, protocol := range []string{"h2", "http/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			dir, a := folder(t)
			owner := load(t, dir, clinic)
			var calls atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
			// It does not know that it was revoked.
			settings := issue(t, a, mainServer.Role, mainServer.Name)
			must(t, os.Remove(filepath.Join(dir, "aggregator-main.key")))
			must(t, os.Remove(filepath.Join(dir, "aggregator-main.crt")))
			must(t, settings.Save(dir))
			server.TLS, server.EnableHTTP2 = settings.Server(), protocol == "h2"
			of := server.TLS.GetConfigForClient
			server.TLS.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
				c, err := of(h)
				c.NextProtos = []string{protocol}
				return c, err
			}
			server.StartTLS()
			defer server.Close()
			client := owner.HTTPClient(identity.Aggregator)
			defer client.CloseIdleConnections()
			post := func() error {
				r, err := client.Post(server.URL, "text/plain", strings.NewReader("a report"))
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				return err
			}
			must(t, post())
			must(t, post())
			_, err := a.Revoke(dir, []identity.Caller{mainServer}, now, year/4)
			must(t, err)
			err = post()
			if !errors.As(err, new(*identity.MisfitError)) { // what was cut off may not be sent twice by itself
				err = post()
			}
			if !errors.As(err, new(*identity.MisfitError)) || !strings.Contains(err.Error(), "revoked") {
				t.Errorf("err = %v, want that the server was revoked", err)
			}
			if n := calls.Load(); n != 2 {
				t.Errorf("the server was called %d times, want 2", n)
			}
		})
	}
}

// TestListsMustBeInForce: a list that an authority has not signed, or not lately, is
// none to go by, and a process that has one does not go on without.
func TestListsMustBeInForce(t *testing.T) {
	dir, a := folder(t)
	server := load(t, dir, mainServer)
	owner := issue(t, a, clinic.Role, clinic.Name) // without files: it knows of no list
	settings := server.Server()
	in := func() error {
		_, err := handshake(t, settings, owner.Client(identity.Aggregator))
		return err
	}
	stranger := t.TempDir()
	strange := authority(t)
	must(t, strange.Save(stranger))
	_, err := strange.Revoke(stranger, nil, now, year/4)
	must(t, err)
	forged := readFiles(t, stranger, "crl.pem")

	_, err = a.Revoke(dir, nil, now.Add(-year/2), year/4)
	must(t, err)
	old := readFiles(t, dir, "crl.pem")
	for name, text := range map[string][]byte{
		"a stranger's": forged, "empty": nil, "another block": readFiles(t, dir, "authority.crt"),
		"text": []byte("none"),
	} {
		put(t, dir, "crl.pem", text)
		if _, err := identity.Load(dir, mainServer); err == nil || !strings.Contains(err.Error(), "crl.pem") {
			t.Errorf("%s: a process starts: err = %v", name, err)
		}
		if server.Reload() == nil {
			t.Errorf("%s: was read", name)
		}
		must(t, in()) // it goes on with what it had, and that was none
	}
	put(t, dir, "crl.pem", old) // something may have been revoked since
	if _, err := identity.Load(dir, mainServer); err == nil || !strings.Contains(err.Error(), "crl.pem") {
		t.Errorf("out of date: a process starts: err = %v", err)
	}
	if server.Reload() == nil || in() == nil {
		t.Error("certificates of an authority are taken whose list is out of date")
	}
	must(t, os.Remove(filepath.Join(dir, "crl.pem")))
	_, err = a.Revoke(dir, []identity.Caller{clinic}, now, year/4)
	must(t, err)
	must(t, server.Reload())
	must(t, in()) // another certificate of the same name
	signed, err := owner.Sign("task", []byte("text"))
	must(t, err)
	for after, good := range map[time.Duration]bool{year/4 - time.Minute: true, year/4 + time.Minute: false} {
		if _, err := server.Verify(signed, "task", []byte("text"), now.Add(after)); (err == nil) != good {
			t.Errorf("%s after the list was signed: %v", after, err)
		}
	}
	for _, spoil := range []func(){
		func() { put(t, dir, "crl.pem", old) },
		func() { must(t, os.Remove(filepath.Join(dir, "crl.pem"))) },
	} {
		spoil()
		if server.Reload() == nil {
			t.Error("a process goes on without the list that it had")
		}
		if _, list := server.Ends(); !list.Equal(now.Add(year / 4).Truncate(time.Second).UTC()) {
			t.Errorf("the list in force ends at %s", list)
		}
	}
}

// TestOneBadListSparesNobody revokes a certificate while something beside its list cannot be used:
// a list of a stranger, an old or unreadable one, text, a certificate that does not fit its key. A
// process that runs refuses it all the same, before and after other lists are gone.
func TestOneBadListSparesNobody(t *testing.T) {
	dir, a := folder(t)
	nextDir, next := t.TempDir(), authority(t)
	must(t, next.Save(nextDir))
	nextCert, nextKey := onDisk(t, nextDir, "authority")
	put(t, dir, "authority.crt", readFiles(t, dir, "authority.crt"), readFiles(t, nextDir, "authority.crt"))
	strange, strangers := authority(t), t.TempDir()
	must(t, strange.Save(strangers))
	signList := func(by *identity.Authority, dir string, at time.Time) []byte {
		t.Helper()
		_, err := by.Revoke(dir, nil, at, year/4)
		must(t, err)
		text := readFiles(t, dir, "crl.pem")
		must(t, os.Remove(filepath.Join(dir, "crl.pem")))
		return text
	}
	none := signList(a, dir, now)
	foreign, late := signList(strange, strangers, now), signList(next, nextDir, now.Add(-year/2))
	_, err := a.Revoke(dir, []identity.Caller{clinic}, now, year/4)
	must(t, err)
	revoking := readFiles(t, dir, "crl.pem")
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(9), ThisUpdate: now,
		NextUpdate:      now.Add(year / 4),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 27}, Critical: true, Value: []byte{2, 1, 1}}},
	}, nextCert, nextKey.(crypto.Signer))
	must(t, err)
	delta := pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
	certificate := readFiles(t, dir, "aggregator-main.crt")
	must(t, issue(t, next, clinic.Role, "next").Save(nextDir))
	put(t, nextDir, "authority.crt", readFiles(t, dir, "authority.crt"))
	ofNext := load(t, nextDir, identity.Caller{Role: clinic.Role, Name: "next"})
	for name, c := range map[string]struct {
		text     [][]byte
		spoil    bool // the process's own certificate
		nextHeld bool // the other authority's certificates are taken
	}{
		"a stranger's beside":   {[][]byte{foreign, revoking}, false, true},
		"a stranger's behind":   {[][]byte{revoking, foreign}, false, true},
		"one out of date":       {[][]byte{late, revoking}, false, false},
		"one not understood":    {[][]byte{delta, revoking}, false, false},
		"text behind":           {[][]byte{revoking, []byte("more to come")}, false, true},
		"a broken block before": {[][]byte{revoking[:40], []byte("\n"), revoking}, false, true},
		"a certificate":         {[][]byte{certificate, revoking}, false, true},
		"an older one behind":   {[][]byte{revoking, none}, false, true},
		"its own certificate":   {[][]byte{revoking}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, dir, "crl.pem", none)
			put(t, dir, "aggregator-main.crt", certificate)
			server := load(t, dir, mainServer)
			settings, owner := server.Server(), load(t, dir, clinic).Client(identity.Aggregator)
			_, err := handshake(t, settings, owner)
			must(t, err)
			put(t, dir, "crl.pem", c.text...)
			if c.spoil {
				put(t, dir, "aggregator-main.crt", readFiles(t, dir, "owner-clinic.crt"))
			}
			wrong := server.Reload()
			if sound := name == "an older one behind"; (wrong == nil) != sound {
				t.Errorf("err = %v", wrong)
			}
			if _, err := handshake(t, settings, owner); err == nil {
				t.Error("a revoked certificate is taken")
			}
			if _, err := handshake(t, settings, ofNext.Client(identity.Aggregator)); (err == nil) != c.nextHeld {
				t.Errorf("the other authority's certificate: %v", err)
			}
			put(t, dir, "crl.pem", none) // nothing is given back
			_ = server.Reload()
			if _, err := handshake(t, settings, owner); err == nil {
				t.Error("a revoked certificate is taken when an older list comes back")
			}
		})
	}
}

// TestEndedCertificatesDoNotStart: with the end in the words, and what to do.
func TestEndedCertificatesDoNotStart(t *testing.T) {
	dir, a := folder(t)
	for name, begins := range map[string]time.Time{"ended": now.Add(-2 * time.Hour), "future": now.Add(year / 4)} {
		late, err := a.Issue(identity.Caller{Role: identity.Owner, Name: name}, nil, begins, time.Hour)
		must(t, err)
		must(t, late.Save(dir))
		_, err = identity.Load(dir, late.Caller)
		if err == nil || !strings.Contains(err.Error(), "the certificate "+
			map[string]string{"ended": "ended", "future": "begins"}[name]+" at ") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if _, err := a.Renew(dir, identity.Caller{Role: identity.Owner, Name: "ended"}, now, time.Hour); err != nil {
		t.Error(err)
	}
	load(t, dir, identity.Caller{Role: identity.Owner, Name: "ended"})
}

// TestConnectionsEndWithTheirCertificate: a caller that is renewed in time is not cut
// off, because it connects again.
func TestConnectionsEndWithTheirCertificate(t *testing.T) {
	a := authority(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS, server.EnableHTTP2 = issue(t, a, mainServer.Role, mainServer.Name).Server(), true
	server.StartTLS()
	defer server.Close()
	for life := 2 * time.Second; ; life *= 2 { // a slow machine needs longer for the handshake
		brief, err := a.Issue(clinic, nil, time.Now(), life)
		must(t, err)
		conn, err := brief.Dial(identity.Aggregator)(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil && life < 10*time.Minute {
			continue
		}
		must(t, err)
		defer conn.Close()
		if _, err := io.ReadAll(conn); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection ended with %v", err)
		}
		return
	}
}
