// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/places"
	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

const tokenA, tokenB = "one-token-of-the-test", "another-token-of-the-test"

// begin sends the beginning of a request, and no more.
func begin(t *testing.T, address, path, kind, token, length string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	const head = "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s\r\n\r\n"
	if _, err := fmt.Fprintf(c, head,
		path, token, kind, length); err != nil {
		t.Fatal(err)
	}
	return c
}

// await waits until so many requests hold a place, and so many wait for one.
func await(s *Server, held, waiting int) {
	for h, w := s.places.Standing(); h != held || w != waiting; h, w = s.places.Standing() {
		runtime.Gosched()
	}
}

// TestHeldOpenCallsHoldPlaces: calls of any protocol that are merely begun count among
// --concurrency, and the metric shows them. The next one is refused, in its protocol.
func TestHeldOpenCallsHoldPlaces(t *testing.T) {
	s, _ := newServer(t, func(o *Options) { o.Concurrency = 8 }, "v1-votes")
	s.places = places.New[caller](8, s.opts.Memory, 1, time.Hour)
	address := listen(t, s)
	const call = "/" + oip.GRPCInferenceServiceName + "/"
	for k := range 40 {
		switch k % 4 {
		case 0:
			begin(t, address, "/v2/models/v1-votes/infer", "application/json", "", "Content-Length: 1000")
		case 1:
			begin(t, address, "/v2/models/v1-votes/infer", "application/json", "", "Transfer-Encoding: chunked")
		case 2:
			begin(t, address, call+"ModelInfer", "application/grpc", "", "Transfer-Encoding: chunked")
		case 3:
			begin(t, address, call+"ServerLive", "application/proto", "", "Content-Length: 1000")
		}
	}
	await(s, 8, 32)
	for path, want := range map[string]string{"/metrics": "discreet_inference_in_flight 8\n", "/v2/health/ready": "true"} {
		r, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q: %v", path, want, err)
		}
	}
	s, _ = newServer(t, nil, "v1-votes")
	s.places = places.New[caller](1, 0, 1, 0)
	if _, err := s.places.Take(t.Context(), 0, 1); err != nil {
		t.Fatal(err)
	}
	if w := post(t, s.Handler(), "/v2/models/v1-votes/infer", nil); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more over HTTP: %d", w.Code)
	}
	w := post(t, s.Handler(), call+"ModelInfer", nil, "Content-Type", "application/grpc")
	if got := w.Header().Get("Grpc-Status"); got != "8" || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more over gRPC: status %s", got)
	}
	if w := post(t, s.Handler(), call+"ModelInfer", nil, "Content-Type", "application/proto"); w.Code != 429 {
		t.Errorf("one more over Connect: %d", w.Code)
	}
}

// TestOneTokenLeavesRoomForOthers: one token has begun more requests than there are
// places, and sends no more of them. Another token's are answered at once.
func TestOneTokenLeavesRoomForOthers(t *testing.T) {
	s, _ := newServer(t, func(o *Options) { o.Tokens = []string{tokenA, tokenB} }, "v1-votes")
	s.grace = time.Hour // no one is cut off
	s.places = places.New[caller](s.opts.Concurrency, s.opts.Memory, s.shares(), time.Hour)
	address := listen(t, s)
	for range 64 {
		begin(t, address, "/v2/models/v1-votes/infer", "application/json", tokenA, "Content-Length: 1000")
	}
	await(s, 32, 32)
	m := s.models[0].now.Load()
	for k := range 20 {
		w := post(t, s.Handler(), "/v2/models/v1-votes/infer", bodyOf(t, m, rowsOf(m, 3)), "Authorization", "Bearer "+tokenB)
		if w.Code != 200 {
			t.Fatalf("request %d of another token: %d %s", k, w.Code, w.Body)
		}
	}
}

// TestSlowBodiesLoseTheirPlace: a body that does not come is refused, over any protocol,
// and its place is free.
func TestSlowBodiesLoseTheirPlace(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	s.grace = time.Millisecond
	address := listen(t, s)
	for _, c := range []struct{ path, kind, length string }{
		{"/v2/models/v1-votes/infer", "application/json", "Content-Length: 1000"},
		{"/v2/models/v1-votes/infer", "application/json", "Transfer-Encoding: chunked"},
		{"/" + oip.GRPCInferenceServiceName + "/ModelInfer", "application/grpc", "Transfer-Encoding: chunked"},
		{"/" + oip.GRPCInferenceServiceName + "/ModelInfer", "application/proto", "Content-Length: 1000"},
	} {
		conn := begin(t, address, c.path, c.kind, "", c.length)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body) // the trailers are behind it
		answer.Body.Close()
		grpc := answer.Header.Get("Grpc-Status") + answer.Trailer.Get("Grpc-Status")
		if answer.StatusCode == 200 && (grpc == "" || grpc == "0") {
			t.Errorf("%v: a body that does not come is answered", c)
		}
	}
	await(s, 0, 0)
}

// timed is a writer that keeps its deadline.
type timed struct {
	http.ResponseWriter
	deadline time.Time
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.deadline = at
	return nil
}

// TestAnswersMustBeRead: each part of an answer has a deadline, by its length.
func TestAnswersMustBeRead(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	m := s.models[0].now.Load()
	w := &timed{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/v2/models/v1-votes/infer", bytes.NewReader(bodyOf(t, m, rowsOf(m, 1))))
	before := time.Now()
	s.Handler().ServeHTTP(w, r)
	if w.deadline.Before(before.Add(grace)) || w.deadline.After(time.Now().Add(grace+time.Second)) {
		t.Errorf("the answer is to be read until %v after %v", w.deadline, before)
	}
}

// TestReloadingSurvivesAHungFile: a file that does not answer holds up neither the other
// models' nor the end of the server.
func TestReloadingSurvivesAHungFile(t *testing.T) {
	s, dir := newServer(t, nil, "v1-votes", "v3-ballots")
	before := s.models[1].now.Load()
	writeFile(t, filepath.Join(dir, "v1-votes.json"), kitFile(t, "v1-logistic"))
	writeFile(t, filepath.Join(dir, "v3-ballots.json"), kitFile(t, "v3-norm"))
	hung, release := make(chan struct{}, 2), make(chan struct{})
	defer close(release)
	s.read = func(path string, most int64) ([]byte, error) {
		if strings.HasSuffix(path, "v1-votes.json") {
			hung <- struct{}{}
			<-release
		}
		return readRegular(path, most)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended, ticks := make(chan error, 1), make(chan time.Time)
	go func() { ended <- s.Serve(ctx, l, ticks) }()
	ticks <- time.Time{}
	<-hung
	for s.models[1].now.Load() == before {
		runtime.Gosched()
	}
	before = s.models[1].now.Load()
	writeFile(t, filepath.Join(dir, "v3-ballots.json"), kitFile(t, "v3-ballots"))
	for s.models[1].now.Load() == before { // reloading goes on
		ticks <- time.Time{}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(hung) > 0 {
		t.Error("the hung file is read more than once at a time")
	}
}

// TestEndsWhileFilesHang: a command that is told to end does so, whatever it reads.
func TestEndsWhileFilesHang(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := runUntil(ctx, func(context.Context) error { <-release; return nil }, time.Millisecond); err == nil {
		t.Error("work that hangs was waited for")
	}
	want := errors.New("its own")
	if err := runUntil(t.Context(), func(context.Context) error { return want }, time.Hour); !errors.Is(err, want) {
		t.Errorf("work that ends: %v", err)
	}
}

// TestCertificatesThatHang: connections are shown the certificate of before, and do not
// wait for one another.
func TestCertificatesThatHang(t *testing.T) {
	release := make(chan struct{})
	c := &certificate{patience: time.Millisecond, read: func() (*tls.Certificate, error) {
		<-release
		return nil, errors.New("hung up")
	}}
	first := new(tls.Certificate)
	c.last.Store(first)
	for range 3 {
		if got := c.get(); got != first {
			t.Errorf("%v is shown", got)
		}
	}
	close(release)
}

// TestQuietConnectionsMakeRoom: where one connection is too many, the one that asks
// nothing for longest is closed; those with requests are not.
func TestQuietConnectionsMakeRoom(t *testing.T) {
	c := newConnections(3)
	conn := func() net.Conn { a, _ := net.Pipe(); return a }
	busy, quiet, later, next := conn(), conn(), conn(), conn()
	for _, x := range []net.Conn{busy, quiet, later} {
		if c.noteState(x, http.StateNew) != nil {
			t.Fatal("there was room")
		}
	}
	c.noteState(busy, http.StateActive)
	c.noteState(quiet, http.StateActive)
	c.noteState(quiet, http.StateIdle)
	if got := c.noteState(next, http.StateNew); got != later {
		t.Error("another connection than the one that is quiet for longest is closed")
	}
	c.noteState(next, http.StateActive)
	c.noteState(quiet, http.StateActive)
	if last := conn(); c.noteState(last, http.StateNew) != last {
		t.Error("where all have requests, the new one is not closed")
	}
	c.noteState(next, http.StateClosed)
	if c.noteState(conn(), http.StateNew) != nil {
		t.Error("a closed connection takes room")
	}
}

// TestAnswersKeepNothingOfOtherRequests sends a server requests about rows, some of which
// miss cells, some of which are refused in the middle, at random and at once: each answer
// is that of a server that has answered nothing before.
func TestAnswersKeepNothingOfOtherRequests(t *testing.T) {
	s, _ := newServer(t, nil, kinds...)
	sums := newSums(t)
	r := rand.New(rand.NewPCG(3, 14))
	for _, used := range []*Server{s, sums} {
		for k, place := range used.models {
			m := place.now.Load()
			type exchange struct{ body, answer []byte }
			var all []exchange
			for n := range 40 {
				cells := rowsOf(m, 60)
				from := r.IntN(50)
				for i := range cells {
					cells[i] = cells[i][from:][:1+n%9]
					for row := range cells[i] {
						if r.IntN(3) == 0 && !m.numbers[i] {
							cells[i][row] = []any{nil, "canary"}[r.IntN(2)]
						}
					}
				}
				body := bodyOf(t, m, cells)
				if m.split != nil {
					body = asking(body, `[{"name":"score"},{"name":"label"},{"name":"contributions"}]`)
				}
				if r.IntN(4) == 0 { // refused at its last cell
					body = bytes.Replace(body, []byte(`]}]`), []byte(`,7]}]`), 1)
				}
				fresh, err := newServed(m.name, m.version, m.m)
				if err != nil {
					t.Fatal(err)
				}
				one := &Server{opts: used.opts, places: used.places, grace: used.grace, counts: used.counts,
					models: []*slot{{name: m.name}}}
				one.models[0].now.Store(fresh)
				all = append(all, exchange{body, post(t, one.Handler(), "/v2/models/"+m.name+"/infer", body).Body.Bytes()})
			}
			for worker := range 3 {
				order := rand.New(rand.NewPCG(uint64(worker), uint64(k)))
				t.Run("", func(t *testing.T) {
					t.Parallel()
					for range 200 {
						x := all[order.IntN(len(all))]
						got := post(t, used.Handler(), "/v2/models/"+m.name+"/infer", x.body).Body.Bytes()
						if !bytes.Equal(got, x.answer) {
							t.Fatalf("%s: after other requests %s is answered by %s, alone by %s", m.name, x.body, got, x.answer)
						}
					}
				})
			}
		}
	}
}
