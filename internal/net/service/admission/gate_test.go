// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/testkit/crltest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// helper is a service behind a gate: Share does what the test says, GetSelf says
// who calls.
type helper struct {
	rpc.UnimplementedHelperHandler
	share func(context.Context) error
}

func (h *helper) Share(ctx context.Context,
	_ *connect.Request[rpc.ShareRequest]) (*connect.Response[rpc.ShareResponse], error) {
	return connect.NewResponse(new(rpc.ShareResponse)), h.share(ctx)
}

func (h *helper) GetSelf(ctx context.Context,
	_ *connect.Request[rpc.GetSelfRequest]) (*connect.Response[rpc.GetSelfResponse], error) {
	return connect.NewResponse(&rpc.GetSelfResponse{Memory: []byte(admission.Caller(ctx).String())}), nil
}

// served is a gate on loopback.
type served struct {
	t         *testing.T
	authority *identity.Authority
	gate      *admission.Gate
	url       string
	log       *journal
}

// journal is a log to read.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func serve(t *testing.T, h *helper) *served {
	t.Helper()
	a, err := identity.NewAuthority(time.Now(), time.Hour)
	must(t, err)
	s := &served{t: t, authority: a, log: &journal{}}
	self := s.identity(identity.Helper)
	s.gate = &admission.Gate{
		Self: self,
		May: map[string][]identity.Role{rpc.HelperShareProcedure: {identity.Owner},
			rpc.HelperGetSelfProcedure: {identity.Owner, identity.Reader}},
		Body: 1000, Places: map[string]*admission.Places{rpc.HelperShareProcedure: admission.NewPlaces(1, 0)},
		Metrics: admission.NewMetrics(prometheus.NewCounter(prometheus.CounterOpts{Name: "own_total",
			Help: "The service's own."})),
		Log: slog.New(slog.NewTextHandler(s.log, nil)),
	}
	_, calls := rpc.NewHelperHandler(h, s.gate.Options())
	server := httptest.NewUnstartedServer(s.gate.Handler(calls))
	server.TLS, server.EnableHTTP2 = self.Server(), true
	server.StartTLS()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *served) identity(role identity.Role) *identity.Identity {
	s.t.Helper()
	return s.named(role, "x")
}

func (s *served) named(role identity.Role, name string) *identity.Identity {
	s.t.Helper()
	id, err := s.authority.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1"}, time.Now(),
		30*time.Minute)
	must(s.t, err)
	return id
}

func (s *served) client(role identity.Role) rpc.HelperClient {
	return s.clientOf(s.identity(role))
}

func (s *served) clientOf(id *identity.Identity) rpc.HelperClient {
	client := id.HTTPClient(identity.Helper)
	s.t.Cleanup(client.CloseIdleConnections)
	return rpc.NewHelperClient(client, s.url)
}

// TestRevokedCallers: an open connection ends at its next call, and no other is made.
// Callers that are not on the list notice nothing.
func TestRevokedCallers(t *testing.T) {
	s := serve(t, &helper{})
	dir := t.TempDir()
	must(t, s.authority.Save(dir))
	must(t, s.gate.Self.Save(dir))
	self, err := identity.Load(dir, s.gate.Self.Caller)
	must(t, err)
	s.gate.Self = self // its listener's handshakes know of no list
	owner := s.identity(identity.Owner)
	must(t, owner.Save(dir))
	caller, reader := s.clientOf(owner), s.client(identity.Reader)
	ask := func(c rpc.HelperClient, wait context.Context) error {
		_, err := c.GetSelf(wait, connect.NewRequest(new(rpc.GetSelfRequest)))
		return err
	}
	var reused []bool
	traced := httptrace.WithClientTrace(t.Context(),
		&httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = append(reused, i.Reused) }})
	must(t, ask(caller, traced))
	must(t, ask(caller, traced))
	must(t, ask(reader, t.Context()))
	crltest.Revoke(t, dir, time.Now(), time.Minute, "owner-"+owner.Name)
	if got := problem.Of(ask(caller, traced)); got.Kind != problem.Reconnect {
		t.Errorf("the next call of an open connection: %v, want to connect anew", got)
	}
	if want := []bool{false, true, true}; !slices.Equal(reused, want) {
		t.Errorf("connections were reused %v, want %v", reused, want)
	}
	must(t, ask(reader, t.Context()))
	if !strings.Contains(s.log.String(), "it was revoked") {
		t.Errorf("the log does not say why:\n%s", s.log)
	}
	// A listener that knows of the list does not let the caller come back.
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS, server.EnableHTTP2 = self.Server(), true
	server.StartTLS()
	defer server.Close()
	s.url = server.URL
	if ask(s.clientOf(owner), t.Context()) == nil {
		t.Error("a revoked caller has come back")
	}
}

// TestEndsAreGauges: when the certificate ends, and the list once there is one.
func TestEndsAreGauges(t *testing.T) {
	s := serve(t, &helper{})
	dir := t.TempDir()
	must(t, s.authority.Save(dir))
	must(t, s.gate.Self.Save(dir))
	self, err := identity.Load(dir, s.gate.Self.Caller)
	must(t, err)
	gauges := func() string {
		w := httptest.NewRecorder()
		admission.NewMetrics(admission.Ends{Of: self}).Watch(nil).ServeHTTP(w,
			httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	end, _ := self.Ends()
	if want := fmt.Sprintf("discreet_certificate_end_seconds %v\n",
		float64(end.Unix())); !strings.Contains(gauges(), want) {
		t.Errorf("the page lacks %s", want)
	}
	if strings.Contains(gauges(), "discreet_revocations_end_seconds ") {
		t.Error("there is an end of no list")
	}
	at := time.Now().Add(time.Minute)
	crltest.Revoke(t, dir, at, time.Hour)
	if want := fmt.Sprintf("discreet_revocations_end_seconds %v\n",
		float64(at.Add(time.Hour).Unix())); !strings.Contains(gauges(), want) {
		t.Errorf("the page lacks %s:\n%s", want, gauges())
	}
}

func share(c rpc.HelperClient, body []byte) error {
	_, err := c.Share(context.Background(), connect.NewRequest(&rpc.ShareRequest{SumId: body}))
	return err
}

// TestCallersAreNamed: who has a role that may, may; the call knows who makes it;
// the log has every call with effects, and what became of it.
func TestCallersAreNamed(t *testing.T) {
	s := serve(t, &helper{share: func(context.Context) error { return nil }})
	owner, reader := s.client(identity.Owner), s.client(identity.Reader)
	must(t, share(owner, nil))
	if err := share(reader, nil); problem.Of(err).Kind != problem.Forbidden {
		t.Errorf("a reader shares: %v", err)
	}
	if _, err := owner.Open(t.Context(), connect.NewRequest(new(rpc.OpenRequest))); problem.Of(err).Kind !=
		problem.UnknownCall {
		t.Errorf("what nobody may was done: %v", err)
	}
	r, err := reader.GetSelf(t.Context(), connect.NewRequest(new(rpc.GetSelfRequest)))
	must(t, err)
	if string(r.Msg.GetMemory()) != "reader/x" {
		t.Errorf("the caller is %s", r.Msg.GetMemory())
	}
	log := s.log.String()
	for _, want := range []string{"call=" + rpc.HelperShareProcedure + " caller=owner/x refused=false",
		"call=" + rpc.HelperShareProcedure + " caller=reader/x refused=true"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, rpc.HelperGetSelfProcedure) {
		t.Error("the audit log has calls without effects")
	}
}

// TestFailuresAreProblems: callers learn a kind, never what failed; the log knows.
func TestFailuresAreProblems(t *testing.T) {
	var fail func() error
	s := serve(t, &helper{share: func(context.Context) error { return fail() }})
	owner := s.client(identity.Owner)
	for _, c := range []struct {
		fail   func() error
		want   problem.Kind
		logged bool
	}{
		{func() error { return problem.New(problem.Replayed, "") }, problem.Replayed, false},
		{func() error { return fmt.Errorf("x: %w: secret words", sqldb.ErrFailed) }, problem.Storage, true},
		{func() error { return errors.New("secret words") }, problem.Internal, true},
		{func() error { panic("secret words") }, problem.Internal, true},
	} {
		fail = c.fail
		before := strings.Count(s.log.String(), "secret words")
		err := share(owner, nil)
		if problem.Of(err).Kind != c.want || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%v, want %v", err, c.want)
		}
		if logged := strings.Count(s.log.String(), "secret words") > before; logged != c.logged {
			t.Errorf("%v: the log knows: %v, want %v", c.want, logged, c.logged)
		}
	}
}

// TestTurns: what waits for its turn is held back, and what is too large is
// refused, before it is read.
func TestTurns(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := serve(t, &helper{share: func(context.Context) error {
		entered <- struct{}{}
		<-leave
		return nil
	}})
	owner := s.client(identity.Owner)
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- share(owner, nil) }()
	}
	<-entered
	if err := share(owner, make([]byte, 2000)); problem.Of(err).Kind != problem.TooLarge {
		t.Errorf("a large request: %v", err)
	}
	select {
	case <-entered:
		t.Fatal("two calls had the one turn")
	case leave <- struct{}{}:
	}
	must(t, <-done)
	<-entered
	leave <- struct{}{}
	must(t, <-done)
}

// stall opens a connection, announces a message, and sends but its first byte.
func (s *served) stall(id *identity.Identity) net.Conn {
	s.t.Helper()
	settings := id.Client(identity.Helper)
	settings.NextProtos, settings.ServerName = []string{"http/1.1"}, "127.0.0.1"
	c, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), settings)
	must(s.t, err)
	s.t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\n"+
		"Content-Length: 500\r\n\r\n\n", rpc.HelperShareProcedure)
	must(s.t, err)
	return c
}

// TestOneCertificateCannotShutOutOthers: one certificate has begun forty messages and
// sends no more of them. Others' calls go on as if it were not there.
func TestOneCertificateCannotShutOutOthers(t *testing.T) {
	s := serve(t, &helper{share: func(context.Context) error { return nil }})
	places := admission.NewPlaces(8, 0)
	s.gate.Places[rpc.HelperShareProcedure] = places
	s.gate.Grace = time.Hour // no one is cut off
	mallory := s.named(identity.Owner, "mallory")
	for range 40 {
		s.stall(mallory)
	}
	for {
		held, waiting := places.Standing()
		if held+waiting == 40 {
			break
		}
		<-time.After(time.Millisecond)
	}
	owner := s.client(identity.Owner)
	for i := range 20 {
		if err := share(owner, []byte("report")); err != nil {
			t.Fatalf("call %d of another certificate: %v", i, err)
		}
	}
	if places.WasFull() {
		t.Error("somebody had to wait")
	}
}

// TestStalledBodiesLoseTheirPlace: a message that does not come is refused, and its
// place is free; who sent it is counted and logged.
func TestStalledBodiesLoseTheirPlace(t *testing.T) {
	s := serve(t, &helper{share: func(context.Context) error { return nil }})
	s.gate.Grace = time.Millisecond
	c := s.stall(s.named(identity.Owner, "mallory"))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != problem.Timeout.Status() {
		t.Errorf("a message that does not come: %s", answer.Status)
	}
	s.gate.Grace = 0
	must(t, share(s.client(identity.Owner), nil))
	s.noted("owner/mallory", problem.Timeout)
}

// noted demands that a refusal is counted, and logged with its caller.
func (s *served) noted(caller string, k problem.Kind) {
	s.t.Helper()
	if line := "call=" + rpc.HelperShareProcedure + " caller=" + caller + " refused=true problem=" +
		k.String(); !strings.Contains(s.log.String(), line) {
		s.t.Errorf("the log lacks %q:\n%s", line, s.log)
	}
	w := httptest.NewRecorder()
	s.gate.Metrics.Watch(nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if count := fmt.Sprintf(`discreet_refusals_total{call="%s",kind="%s"} 1`, rpc.HelperShareProcedure,
		k); !strings.Contains(w.Body.String(), count) {
		s.t.Errorf("the metrics lack %s", count)
	}
}

// TestRefusedBodiesAreNoted: what Connect refuses by itself, before a call is
// reached, is counted and logged with the caller, and nothing of the message is.
func TestRefusedBodiesAreNoted(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(make([]byte, 1<<20))
	must(t, errors.Join(err, z.Close()))
	for name, c := range map[string]struct {
		header [2]string
		body   string
		want   problem.Kind
	}{
		"another type":     {[2]string{"Content-Type", "text/csv"}, "secret words", problem.UnknownType},
		"another encoding": {[2]string{"Content-Encoding", "secret words"}, "secret words", problem.UnknownType},
		"no message":       {[2]string{"X", "y"}, "\xffsecret words", problem.Malformed},
		"short parts":      {[2]string{"X", "y"}, strings.Repeat("\x12\x00", 400), problem.Malformed},
		"not packed":       {[2]string{"Content-Encoding", "gzip"}, "secret words", problem.Malformed},
		"a bomb":           {[2]string{"Content-Encoding", "gzip"}, packed.String()[:900], problem.TooLarge},
		"large":            {[2]string{"X", "y"}, strings.Repeat("secret words", 100), problem.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, &helper{share: func(context.Context) error { return nil }})
			transport := &http.Transport{TLSClientConfig: s.named(identity.Owner, "mallory").Client(identity.Helper),
				ForceAttemptHTTP2: true}
			defer transport.CloseIdleConnections()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+rpc.HelperShareProcedure,
				strings.NewReader(c.body))
			must(t, err)
			r.Header.Set("Content-Type", "application/proto")
			r.Header.Set(c.header[0], c.header[1])
			answer, err := transport.RoundTrip(r)
			must(t, err)
			answer.Body.Close()
			if answer.StatusCode != c.want.Status() {
				t.Errorf("%s, want %d", answer.Status, c.want.Status())
			}
			s.noted("owner/mallory", c.want)
			if strings.Contains(s.log.String(), "secret") {
				t.Errorf("the log quotes the message:\n%s", s.log)
			}
		})
	}
}

// TestRefusalsDoNotFloodTheLog: of many refusals of one caller some are logged, with
// how many were not; another caller's are.
func TestRefusalsDoNotFloodTheLog(t *testing.T) {
	now := time.Now()
	s := serve(t, &helper{share: func(context.Context) error { return nil }})
	s.gate.Now = func() time.Time { return now }
	hasty, other := s.client(identity.Reader), s.client(identity.Aggregator)
	for range 200 {
		_ = share(hasty, nil)
	}
	if n := strings.Count(s.log.String(), "caller=reader/x"); n != 50 {
		t.Errorf("%d of 200 refusals are logged, want the first 50", n)
	}
	now = now.Add(time.Second)
	_, _ = share(hasty, nil), share(other, nil)
	for _, want := range []string{"caller=reader/x refused=true problem=forbidden refused_since_and_not_logged=150",
		"caller=aggregator/x"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// TestRates: who asks for too much is told to wait; others are not.
func TestRates(t *testing.T) {
	s := serve(t, &helper{})
	now := time.Unix(1_800_000_000, 0)
	s.gate.Now = func() time.Time { return now }
	_, calls := rpc.NewHelperHandler(&helper{}, s.gate.Options())
	handler := s.gate.Handler(calls)
	// Over no network, so that the clock is all that a caller's rate depends on.
	taken := func(role identity.Role) (n int) {
		settings := s.identity(role).Client(identity.Helper)
		chains, err := settings.Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: settings.RootCAs,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		must(t, err)
		for ; ; n++ {
			r := httptest.NewRequest(http.MethodPost, rpc.HelperGetSelfProcedure, http.NoBody)
			r.Header.Set("Content-Type", "application/proto")
			r.TLS = &tls.ConnectionState{VerifiedChains: chains}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			if answer.Code == problem.TooMany.Status() {
				return n
			}
			if answer.Code != http.StatusOK || n > 10_000 {
				t.Fatalf("call %d of %s: %d %s", n, role, answer.Code, answer.Body)
			}
		}
	}
	const burst, perSecond = 2000, 500
	if n := taken(identity.Reader); n != burst {
		t.Errorf("%d calls at once are taken, want %d", n, burst)
	}
	now = now.Add(time.Second)
	if n := taken(identity.Reader); n != perSecond {
		t.Errorf("%d calls are taken after a second, want %d", n, perSecond)
	}
	if n := taken(identity.Owner); n != burst {
		t.Errorf("%d calls of somebody else are taken, want %d", n, burst)
	}
}

// TestWatch: metrics by call and kind, whatever path was asked for; alive and
// ready.
func TestWatch(t *testing.T) {
	s := serve(t, &helper{share: func(context.Context) error { return nil }})
	must(t, share(s.client(identity.Owner), nil))
	if err := share(s.client(identity.Reader), nil); err == nil {
		t.Error("a reader shares")
	}
	transport := &http.Transport{TLSClientConfig: s.identity(identity.Owner).Client(identity.Helper),
		ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	lost, err := (&http.Client{Transport: transport}).Post(s.url+"/a/path/of/mine", "text/plain",
		bytes.NewReader(make([]byte, 2000)))
	must(t, err)
	lost.Body.Close()
	if lost.StatusCode != problem.UnknownCall.Status() {
		t.Errorf("a path of nobody's: %s", lost.Status)
	}
	var down error
	page := httptest.NewServer(s.gate.Metrics.Watch(func(context.Context) error { return down }))
	defer page.Close()
	get := func(path string) (int, string) {
		r, err := http.Get(page.URL + path)
		must(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		must(t, err)
		return r.StatusCode, string(b)
	}
	_, metrics := get("/metrics")
	for _, want := range []string{
		`discreet_refusals_total{call="` + rpc.HelperShareProcedure + `",kind="forbidden"} 1`,
		`discreet_refusals_total{call="other",kind="unknown-call"} 1`,
		`discreet_call_seconds_count{call="` + rpc.HelperShareProcedure + `"} 1`, "own_total 0",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s:\n%s", want, metrics)
		}
	}
	if strings.Contains(metrics, "path/of/mine") {
		t.Error("callers choose the names of metrics")
	}
	if code, _ := get("/readyz"); code != 200 {
		t.Errorf("ready: %d", code)
	}
	down = errors.New("down")
	if code, body := get("/readyz"); code != 503 || strings.Contains(body, "down") {
		t.Errorf("not ready: %d %s", code, body)
	}
	if code, _ := get("/healthz"); code != 200 {
		t.Errorf("alive: %d", code)
	}
}
