// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

var now = time.Now()

const year = 365 * 24 * time.Hour

func authority(t *testing.T) *identity.Authority {
	t.Helper()
	a, err := identity.NewAuthority(now, year)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *identity.Authority, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := a.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1", "localhost"}, now, year/2)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// handshake connects the two and returns the name that the server saw, and the
// error of either end.
func handshake(t *testing.T, server, client *tls.Config) (string, error) {
	t.Helper()
	client = client.Clone()
	client.ServerName = "localhost"
	return connect(t, server, func(address string) (net.Conn, error) { return tls.Dial("tcp", address, client) })
}

func connect(t *testing.T, server *tls.Config, dial func(address string) (net.Conn, error)) (string, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type seen struct {
		who string
		err error
	}
	done := make(chan seen, 1)
	go func() {
		raw, err := l.Accept()
		if err != nil {
			done <- seen{err: err}
			return
		}
		conn := tls.Server(raw, server)
		defer conn.Close()
		if err := conn.Handshake(); err != nil {
			done <- seen{err: err}
			return
		}
		done <- seen{who: conn.ConnectionState().PeerCertificates[0].URIs[0].String()}
	}()
	conn, err := dial(l.Addr().String())
	if err == nil {
		_, err = io.ReadAll(conn) // TLS 1.3 reports a refused certificate on the first read
		conn.Close()
	}
	s := <-done
	return s.who, errors.Join(err, s.err)
}

func TestBothEndsKnowWhoTheyTalkTo(t *testing.T) {
	a := authority(t)
	server := issue(t, a, identity.Aggregator, "main")
	owner := issue(t, a, identity.Owner, "clinic-7")
	who, err := handshake(t, server.Server(), owner.Client(identity.Aggregator))
	if err != nil {
		t.Fatal(err)
	}
	if want := "discreet://owner/clinic-7"; who != want {
		t.Errorf("the server saw %s, want %s", who, want)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	a, other := authority(t), authority(t)
	server := issue(t, a, identity.Aggregator, "main")
	owner := issue(t, a, identity.Owner, "o")
	late, err := a.Issue(identity.Caller{Role: identity.Owner, Name: "o"}, nil, now.Add(-year/2), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	nobody := owner.Client(identity.Aggregator)
	nobody.Certificates = nil
	old := owner.Client(identity.Aggregator)
	old.MaxVersion, old.MinVersion = tls.VersionTLS12, tls.VersionTLS12
	for name, c := range map[string]struct{ server, client *tls.Config }{
		"no certificate":       {server.Server(), nobody},
		"another authority":    {server.Server(), issue(t, other, identity.Owner, "o").Client(identity.Aggregator)},
		"server of another":    {issue(t, other, identity.Aggregator, "main").Server(), owner.Client(identity.Aggregator)},
		"expired":              {server.Server(), late.Client(identity.Aggregator)},
		"helper as aggregator": {issue(t, a, identity.Helper, "h").Server(), owner.Client(identity.Aggregator)},
		"owner as aggregator":  {owner.Server(), owner.Client(identity.Aggregator)},
		"TLS 1.2":              {server.Server(), old},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := handshake(t, c.server, c.client); err == nil {
				t.Error("the connection stood")
			}
		})
	}
}

// onDisk reads a certificate and its key.
func onDisk(t *testing.T, dir, name string) (*x509.Certificate, any) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf, pair.PrivateKey
}

// TestCertificatesOfTwoNamesAreRefused signs, with the authority's own key, what
// Issue never makes.
func TestCertificatesOfTwoNamesAreRefused(t *testing.T) {
	dir := t.TempDir()
	a := authority(t)
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	by, byKey := onDisk(t, dir, "authority")
	self := issue(t, a, identity.Reader, "r")
	for name, uris := range map[string][]string{
		"none":      nil,
		"two":       {"discreet://owner/a", "discreet://operator/a"},
		"bad role":  {"discreet://admin/a"},
		"no name":   {"discreet://owner/"},
		"path":      {"discreet://owner/a/b"},
		"query":     {"discreet://owner/a?role=operator"},
		"user":      {"discreet://operator@owner/a"},
		"other one": {"https://owner/a"},
		"good":      {"discreet://owner/a", "https://owner/a"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"},
				NotAfter: now.Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
			for _, u := range uris {
				p, err := url.Parse(u)
				if err != nil {
					t.Fatal(err)
				}
				tmpl.URIs = append(tmpl.URIs, p)
			}
			der, err := x509.CreateCertificate(rand.Reader, tmpl, by, key.Public(), byKey)
			if err != nil {
				t.Fatal(err)
			}
			cert, err := x509.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			who, err := self.Peer(&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{cert, by}}})
			if (err == nil) != (name == "good") {
				t.Errorf("taken for %s, %v", who, err)
			}
		})
	}
}

func TestFilesComeBackAndReplaceNothing(t *testing.T) {
	dir := t.TempDir()
	a := authority(t)
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := authority(t).Save(dir); err == nil {
		t.Error("a second authority replaced the first")
	}
	again, err := identity.LoadAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := issue(t, again, identity.Aggregator, "main")
	if err := server.Save(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := identity.Load(dir, server.Caller)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := handshake(t, loaded.Server(), issue(t, a, identity.Owner, "o").Client(identity.Aggregator)); err != nil {
		t.Errorf("the files do not serve: %v", err)
	}
	if _, err := identity.Load(dir, identity.Caller{Role: identity.Owner, Name: "main"}); err == nil {
		t.Error("an owner that was never issued was loaded")
	}
}

func TestKeysOthersMayReadAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := authority(t).Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "authority.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.LoadAuthority(dir); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("err = %v, want the mode it must have", err)
	}
}

func TestCertificatesOfAnotherKeyAreRefused(t *testing.T) {
	dir := t.TempDir()
	a := authority(t)
	one, two := issue(t, a, identity.Owner, "one"), issue(t, a, identity.Owner, "two")
	for _, err := range []error{a.Save(dir), one.Save(dir), two.Save(dir),
		os.Rename(filepath.Join(dir, "owner-two.key"), filepath.Join(dir, "owner-one.key"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := identity.Load(dir, one.Caller); err == nil {
		t.Error("a certificate beside another's key was loaded")
	}
}

func TestIssueRefuses(t *testing.T) {
	a := authority(t)
	for name, c := range map[string]struct {
		who   identity.Caller
		hosts []string
		life  time.Duration
	}{
		"role":               {identity.Caller{Role: "root", Name: "a"}, nil, time.Hour},
		"no name":            {identity.Caller{Role: identity.Owner}, nil, time.Hour},
		"slash":              {identity.Caller{Role: identity.Owner, Name: "a/b"}, nil, time.Hour},
		"server nowhere":     {identity.Caller{Role: identity.Helper, Name: "a"}, nil, time.Hour},
		"party nowhere":      {identity.Caller{Role: identity.Party, Name: "a"}, nil, time.Hour},
		"no life":            {identity.Caller{Role: identity.Owner, Name: "a"}, nil, 0},
		"outlives authority": {identity.Caller{Role: identity.Owner, Name: "a"}, nil, 2 * year},
	} {
		t.Run(name, func(t *testing.T) {
			var p *dp.ParamError
			if _, err := a.Issue(c.who, c.hosts, now, c.life); !errors.As(err, &p) {
				t.Errorf("err = %v, want a ParamError", err)
			}
		})
	}
}

func TestSignaturesAreOfOneMessageKindAndSigner(t *testing.T) {
	a := authority(t)
	operator, reader := issue(t, a, identity.Operator, "anna"), issue(t, a, identity.Reader, "r")
	s, err := operator.Sign("task", []byte("do this"))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := reader.Verify(s, "task", []byte("do this"), now); err != nil || who != operator.Caller {
		t.Errorf("got %s, %v, want %s", who, err, operator.Caller)
	}
	stranger := issue(t, authority(t), identity.Reader, "r")
	bent := s
	bent.Value = append([]byte(nil), s.Value...)
	bent.Value[len(bent.Value)-1] ^= 1
	swapped := s
	mine, err := reader.Sign("task", []byte("do this"))
	if err != nil {
		t.Fatal(err)
	}
	swapped.Value = mine.Value
	for name, c := range map[string]struct {
		by      *identity.Identity
		s       identity.Signature
		purpose string
		message string
		at      time.Time
	}{
		"message":           {reader, s, "task", "do that", now},
		"kind":              {reader, s, "report", "do this", now},
		"authority":         {stranger, s, "task", "do this", now},
		"bent":              {reader, bent, "task", "do this", now},
		"another's":         {reader, swapped, "task", "do this", now},
		"after its end":     {reader, s, "task", "do this", now.Add(year)},
		"no certificate":    {reader, identity.Signature{Value: s.Value}, "task", "do this", now},
		"kind into message": {reader, s, "tas", "kdo this", now},
	} {
		t.Run(name, func(t *testing.T) {
			if who, err := c.by.Verify(c.s, c.purpose, []byte(c.message), c.at); err == nil {
				t.Errorf("taken for one by %s", who)
			}
		})
	}
}

// TestOtherKeysAreRefused signs, with the authority's own key, certificates for keys of other kinds
// and without a use: no handshake of either end, no signature and no process takes them.
func TestOtherKeysAreRefused(t *testing.T) {
	dir, a := t.TempDir(), authority(t)
	must(t, a.Save(dir))
	by, byKey := onDisk(t, dir, "authority")
	of := func(c elliptic.Curve) func() (crypto.Signer, error) {
		return func() (crypto.Signer, error) { return ecdsa.GenerateKey(c, rand.Reader) }
	}
	ofRSA := func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) }
	ofEd25519 := func() (crypto.Signer, error) { _, k, err := ed25519.GenerateKey(nil); return k, err }
	client, server := x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	for name, c := range map[string]struct {
		key         func() (crypto.Signer, error)
		uses        []x509.ExtKeyUsage
		calls, self bool // it is taken as a client's, and as a server's
	}{
		"P-256":       {of(elliptic.P256()), []x509.ExtKeyUsage{client, server}, true, true},
		"P-384":       {of(elliptic.P384()), []x509.ExtKeyUsage{client, server}, true, true},
		"P-521":       {of(elliptic.P521()), []x509.ExtKeyUsage{client, server}, false, false},
		"RSA":         {ofRSA, []x509.ExtKeyUsage{client, server}, false, false},
		"Ed25519":     {ofEd25519, []x509.ExtKeyUsage{client, server}, false, false},
		"no use":      {of(elliptic.P256()), nil, false, false},
		"any use":     {of(elliptic.P256()), []x509.ExtKeyUsage{x509.ExtKeyUsageAny}, false, false},
		"client only": {of(elliptic.P256()), []x509.ExtKeyUsage{client}, true, false},
		"server only": {of(elliptic.P256()), []x509.ExtKeyUsage{server}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := c.key()
			must(t, err)
			uri, err := url.Parse("discreet://aggregator/main")
			must(t, err)
			tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
				URIs: []*url.URL{uri}, ExtKeyUsage: c.uses, KeyUsage: x509.KeyUsageDigitalSignature,
				DNSNames: []string{"localhost"}}
			der, err := x509.CreateCertificate(rand.Reader, tmpl, by, key.Public(), byKey)
			must(t, err)
			pool := x509.NewCertPool()
			pool.AddCert(by)
			own := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequestClientCert,
				Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
			other := issue(t, a, identity.Aggregator, "other")
			if _, err := handshake(t, other.Server(), own); (err == nil) != c.calls {
				t.Errorf("as a client: err = %v", err)
			}
			raw, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			defer raw.Close()
			served := make(chan struct{})
			go func() {
				defer close(served)
				if conn, err := raw.Accept(); err == nil {
					_ = tls.Server(conn, own).Handshake() // the client says how it went
					conn.Close()
				}
			}()
			settings := other.Client(identity.Aggregator)
			settings.ServerName = "localhost"
			conn, err := tls.Dial("tcp", raw.Addr().String(), settings)
			if (err == nil) != c.self {
				t.Errorf("as a server: err = %v", err)
			}
			if err == nil {
				conn.Close()
			}
			<-served
			into := t.TempDir()
			put(t, into, "authority.crt", readFiles(t, dir, "authority.crt"))
			put(t, into, "aggregator-main.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
			text, err := x509.MarshalPKCS8PrivateKey(key)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(into, "aggregator-main.key"),
				pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), 0o600))
			if _, err := identity.Load(into, mainServer); (err == nil) != c.calls {
				t.Errorf("a process starts: err = %v", err)
			}
			if ec, ok := key.(*ecdsa.PrivateKey); ok {
				digest := sha256.Sum256([]byte("4:task:text"))
				value, err := ecdsa.SignASN1(rand.Reader, ec, digest[:])
				must(t, err)
				if _, err := other.Verify(identity.Signature{Certificate: der, Value: value}, "task", []byte("text"),
					now); (err == nil) != c.calls {
					t.Errorf("a signature: err = %v", err)
				}
			}
		})
	}
}
