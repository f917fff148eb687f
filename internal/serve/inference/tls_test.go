// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

// writeCertificate writes a certificate for localhost, which signs itself, and its key.
func writeCertificate(t *testing.T, p *Place, seed byte) *x509.Certificate {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	template := &x509.Certificate{SerialNumber: big.NewInt(int64(seed)), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<34, 0),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, p.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeFile(t, p.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clientFor trusts one certificate and sends a token.
func clientFor(t *testing.T, trusted *x509.Certificate, token string) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(trusted)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: bearer{transport, token}}
}

type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// Over TLS, HTTP and gRPC answer who has a token; a replaced certificate is shown to the next
// connection; no one is answered in the clear.
func TestTLS(t *testing.T) {
	const token = "a token of the test"
	s, dir := newServer(t, func(o *Options) {
		o.Tokens, o.Faults = []string{token}, log.New(io.Discard, "", 0)
	}, "v1-votes")
	p := &Place{Address: "localhost:0", Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	first := writeCertificate(t, p, 1)
	l, err := p.Listen(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	base := "https://localhost:" + port

	m := s.models[0].now.Load()
	rows := rowsOf(m, 3)
	ask := func(client *http.Client, base string) (int, string) {
		r, err := client.Post(base+"/v2/models/v1-votes/infer", "application/json", bytes.NewReader(bodyOf(t, m, rows)))
		if err != nil {
			return 0, err.Error()
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return 0, err.Error()
		}
		return r.StatusCode, string(text)
	}
	one := clientFor(t, first, token)
	if code, text := ask(one, base); code != 200 || !strings.Contains(text, `"score"`) {
		t.Errorf("over TLS: %d %s", code, text)
	}
	if code, text := ask(clientFor(t, first, "another token"), base); code != 401 {
		t.Errorf("with another token: %d %s", code, text)
	}
	code, text := ask(clientFor(t, first, token), "http://localhost:"+port)
	if code == 200 || strings.Contains(text, "score") {
		t.Errorf("in the clear: %d %s", code, text)
	}
	grpc := oip.NewGRPCInferenceServiceClient(one, base, connect.WithGRPC())
	meta, err := grpc.ModelMetadata(t.Context(), connect.NewRequest(&oip.ModelMetadataRequest{Name: "v1-votes"}))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, in := range meta.Msg.Inputs {
		names = append(names, in.Name)
	}
	if !slices.Equal(names, m.columns) {
		t.Errorf("over gRPC the inputs are %v, want %v", names, m.columns)
	}

	second := writeCertificate(t, p, 2)
	if code, text := ask(clientFor(t, second, token), base); code != 200 {
		t.Errorf("with the new certificate: %d %s", code, text)
	}
	if code, text := ask(clientFor(t, first, token), base); code != 0 {
		t.Errorf("who trusts the old certificate alone is answered: %d %s", code, text)
	}
}
