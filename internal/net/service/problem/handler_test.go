// SPDX-License-Identifier: Apache-2.0

package problem_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// served are calls behind Handler, each of which answers with nothing, and a
// client's transport.
func served(t *testing.T) *httptest.Server {
	reached := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			problem.Reached(ctx)
			return next(ctx, r)
		}
	})
	mux := http.NewServeMux()
	mux.Handle(rpc.NewAggregatorHandler(refuse{}, connect.WithReadMaxBytes(1000), connect.WithInterceptors(reached)))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { problem.New(problem.UnknownCall, "").Answer(w, r) })
	mux.HandleFunc("/plain", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Plain", "yes")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "tea")
	})
	calls := problem.Handler(mux, nil)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d, err := time.ParseDuration(r.Header.Get("X-Patience")); err == nil {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
		}
		calls.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// rubbish writes messages that are none.
type rubbish struct{ name string }

func (r rubbish) Name() string                     { return r.name }
func (rubbish) Marshal(any) ([]byte, error)        { return []byte("\xff\xff secret 1234"), nil }
func (r rubbish) Unmarshal(b []byte, to any) error { return proto.Unmarshal(b, to.(proto.Message)) }

// TestConnectsOwnRefusalsAreProblems makes Connect refuse by itself, in every
// protocol: each refusal carries the problem, and nothing of the message.
func TestConnectsOwnRefusalsAreProblems(t *testing.T) {
	s := served(t)
	large := &rpc.GetTaskRequest{TaskId: make([]byte, 2000)}
	for protocol, options := range map[string][]connect.ClientOption{
		"Connect": nil, "gRPC": {connect.WithGRPC()}, "gRPC-Web": {connect.WithGRPCWeb()}, "JSON": {connect.WithProtoJSON()},
	} {
		codec := "proto"
		if protocol == "JSON" {
			codec = "json"
		}
		call := func(name string, m *rpc.GetTaskRequest, more ...connect.ClientOption) error {
			c := connect.NewClient[rpc.GetTaskRequest, rpc.GetTaskResponse](s.Client(), s.URL+"/discreet.v1.Aggregator/"+name,
				append(options[:len(options):len(options)], more...)...)
			_, err := c.CallUnary(t.Context(), connect.NewRequest(m))
			return err
		}
		for name, c := range map[string]struct {
			err  error
			want problem.Kind
		}{
			"rubbish": {call("GetTask", new(rpc.GetTaskRequest), connect.WithCodec(rubbish{codec})),
				problem.Malformed},
			"too large":           {call("GetTask", large), problem.TooLarge},
			"too large, unpacked": {call("GetTask", large, connect.WithSendGzip()), problem.TooLarge},
			"no such call":        {call("Nothing", new(rpc.GetTaskRequest)), problem.UnknownCall},
			"no such encoding": {call("GetTask", large, connect.WithSendCompression("odd"), connect.WithAcceptCompression("odd",
				func() connect.Decompressor { return oddly{} }, func() connect.Compressor { return odd{} })), problem.UnknownType},
			"nothing wrong": {call("GetTask", new(rpc.GetTaskRequest)), problem.Kind{}},
		} {
			if c.err == nil {
				if c.want != (problem.Kind{}) {
					t.Errorf("%s, %s: no error", protocol, name)
				}
				continue
			}
			var e *connect.Error
			if got := problem.Of(c.err); got.Kind != c.want || !errors.As(c.err, &e) || len(e.Details()) != 1 {
				t.Errorf("%s, %s: %v, want %v as its one detail", protocol, name, c.err, c.want)
			}
			if strings.Contains(c.err.Error(), "1234") || strings.Contains(c.err.Error(), "proto:") {
				t.Errorf("%s, %s: quotes the message: %v", protocol, name, c.err)
			}
		}
	}
}

// failing are calls that end with one problem.
type failing struct {
	rpc.UnimplementedAggregatorHandler
	with *problem.Problem
}

func (f *failing) GetTask(ctx context.Context,
	_ *connect.Request[rpc.GetTaskRequest]) (*connect.Response[rpc.GetTaskResponse], error) {
	problem.Reached(ctx)
	problem.Status(ctx, f.with)
	return nil, f.with.Connect()
}

// TestStatuses: the HTTP status of an answer is the problem's own, that of the
// protocol's table, whether the call was reached or refused before; and the problem
// arrives with it in every protocol.
func TestStatuses(t *testing.T) {
	f := &failing{}
	_, calls := rpc.NewAggregatorHandler(f)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Refuse") != "" {
			f.with.Answer(w, r)
			return
		}
		problem.Handler(calls, nil).ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for _, k := range problem.Kinds() {
		f.with = problem.New(k, "")
		for _, refuse := range []string{"", "yes"} {
			for _, kind := range []string{"application/json", "application/proto"} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+rpc.AggregatorGetTaskProcedure, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", kind)
				if kind == "application/json" {
					r.Body = io.NopCloser(strings.NewReader("{}"))
				}
				r.Header.Set("X-Refuse", refuse)
				answer, err := s.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				if answer.StatusCode != k.Status() {
					t.Errorf("%s, %s, refused before: %q: status %d, want %d", k, kind, refuse, answer.StatusCode, k.Status())
				}
			}
			for protocol, option := range map[string]connect.ClientOption{"Connect": connect.WithProtoJSON(),
				"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb()} {
				m := connect.NewRequest(new(rpc.GetTaskRequest))
				m.Header().Set("X-Refuse", refuse)
				if _, err := rpc.NewAggregatorClient(s.Client(), s.URL, option).GetTask(t.Context(), m); problem.Of(err).Kind != k {
					t.Errorf("%s by %s, refused before: %q: %v", k, protocol, refuse, err)
				}
			}
		}
	}
}

// odd is an encoding that only clients know, and oddly its opposite.
type (
	odd   struct{}
	oddly struct{}
)

func (odd) Write(b []byte) (int, error) { return len(b), nil }
func (odd) Close() error                { return nil }
func (odd) Reset(io.Writer)             {}

func (oddly) Read([]byte) (int, error) { return 0, io.EOF }
func (oddly) Close() error             { return nil }
func (oddly) Reset(io.Reader) error    { return nil }

// TestRawRefusals speaks HTTP as no client of Connect does.
func TestRawRefusals(t *testing.T) {
	s := served(t)
	// never is a body that does not end.
	never := func() io.Reader {
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		return r
	}
	const getTask = "/discreet.v1.Aggregator/GetTask"
	for name, c := range map[string]struct {
		method, path string
		header       map[string]string
		body         io.Reader
		want         problem.Kind
		plain        bool
	}{
		"a table": {"POST", getTask, map[string]string{"Content-Type": "text/csv"}, strings.NewReader("a,b"),
			problem.UnknownType, true},
		"no type": {"POST", getTask, nil, nil, problem.UnknownType, true},
		"another method": {"PUT", getTask, map[string]string{"Content-Type": "application/json"}, nil,
			problem.WrongMethod, true},
		"a browser":          {"GET", "/", nil, nil, problem.UnknownCall, true},
		"a query of nothing": {"GET", getTask + "?encoding=json", nil, nil, problem.Malformed, false},
		"rubbish": {"POST", getTask, map[string]string{"Content-Type": "application/json"}, strings.NewReader("{"),
			problem.Malformed, false},
		"an odd deadline": {"POST", getTask, map[string]string{"Content-Type": "application/json",
			"Connect-Timeout-Ms": "soon"}, strings.NewReader("{}"), problem.Malformed, false},
		"an odd version": {"POST", getTask, map[string]string{"Content-Type": "application/json",
			"Connect-Protocol-Version": "7"}, strings.NewReader("{}"), problem.Malformed, true},
		"a slow message": {"POST", getTask, map[string]string{"Content-Type": "application/json", "X-Patience": "50ms"},
			never(), problem.Timeout, false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, c.body)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if c.plain {
			var p struct{ Type string }
			if err := json.Unmarshal(text, &p); err != nil || p.Type != "urn:discreet:problem:"+c.want.String() ||
				answer.StatusCode != c.want.Status() {
				t.Errorf("%s: %d %q, want %s", name, answer.StatusCode, text, c.want)
			}
			continue
		}
		var e struct {
			Details []struct {
				Type  string
				Debug struct{ Type string }
			}
		}
		if err := json.Unmarshal(text, &e); err != nil || len(e.Details) != 1 || e.Details[0].Type != "discreet.v1.Problem" ||
			e.Details[0].Debug.Type != "urn:discreet:problem:"+c.want.String() {
			t.Errorf("%s: %d %q, want %s", name, answer.StatusCode, text, c.want)
		}
	}
	answer, err := s.Client().Get(s.URL + "/plain")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !bytes.Equal(text, []byte("tea")) ||
		answer.StatusCode != http.StatusTeapot || answer.Header.Get("X-Plain") != "yes" {
		t.Errorf("a plain answer became %d %q", answer.StatusCode, text)
	}
}
