// SPDX-License-Identifier: Apache-2.0

package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// TestEveryKindComesBack sends each kind through a real call and as a plain
// answer.
func TestEveryKindComesBack(t *testing.T) {
	for _, k := range problem.Kinds() {
		t.Run(k.String(), func(t *testing.T) {
			sent := problem.New(k, "round %d", 3)
			mux := http.NewServeMux()
			mux.Handle(rpc.NewAggregatorHandler(refuse{err: sent.Connect()}))
			mux.HandleFunc("/plain", func(w http.ResponseWriter, _ *http.Request) { sent.Write(w) })
			server := httptest.NewServer(mux)
			defer server.Close()

			_, err := rpc.NewAggregatorClient(server.Client(), server.URL).GetTask(t.Context(),
				connect.NewRequest(&rpc.GetTaskRequest{}))
			if got := problem.Of(err); got.Kind != k || got.Error() != k.Title()+`: "round 3"` {
				t.Errorf("by call: %v, want %v", got, sent)
			}

			answer, err := http.Get(server.URL + "/plain")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			var body struct {
				Type, Title, Detail string
				Status              int
			}
			if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			want := body
			want.Type, want.Title, want.Detail, want.Status = "urn:discreet:problem:"+k.String(), k.Title(), "round 3",
				k.Status()
			if body != want || answer.StatusCode != k.Status() ||
				answer.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("plain: %d %s %+v, want %+v", answer.StatusCode, answer.Header.Get("Content-Type"), body, want)
			}
			if again := answer.Header.Get("Retry-After") != ""; again != k.Again() {
				t.Errorf("Retry-After is there: %v, want %v", again, k.Again())
			}
		})
	}
}

// TestForeignWordsAreOnOneLine: a problem of another program is short, and cannot act on a terminal.
func TestForeignWordsAreOnOneLine(t *testing.T) {
	const words = "x\x1b[2J\r\nerror: y\u202e"
	long := words + strings.Repeat("z", 1<<20)
	for _, kind := range []string{"urn:discreet:problem:" + problem.Internal.String(), "urn:discreet:problem:another"} {
		p := problem.FromProto(&rpc.Problem{Type: kind, Title: long, Detail: long})
		if got := p.Error(); !plaintext.Is(got) || len(got) > 6000 || !strings.Contains(got, `"x\x1b[2J\r\nerror: y\u202ez`) {
			t.Errorf("%s: says %d bytes, %q", kind, len(got), got[:min(len(got), 80)])
		}
	}
}

// What a failed call says to readers quotes what another program wrote, whether it is of this protocol or not, and leaves out
// the address that was called.
func TestNamedQuotesOthersWords(t *testing.T) {
	const words = "fine\nerror: nothing\u202e"
	// answered is a problem as it arrives.
	answered := func(k problem.Kind) *connect.Error {
		sent := problem.New(k, "%s", words).Connect()
		e := connect.NewWireError(sent.Code(), errors.New(words))
		e.AddDetail(sent.Details()[0])
		return e
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a problem": {answered(problem.Late), problem.Late.Title() + `: "fine\nerror: nothing\u202e"`},
		"a failure": {answered(problem.Internal), problem.Internal.Title() + `: "fine\nerror: nothing\u202e"`},
		"another answer": {connect.NewWireError(connect.CodeUnavailable, errors.New(words)),
			`it answered unavailable: "fine\nerror: nothing\u202e"`},
		"no answer": {fmt.Errorf("call: %w", &url.Error{Op: "Post", URL: "https://127.0.0.1:1/join", Err: errors.New("connection refused")}),
			"connection refused"},
	} {
		got := problem.Named(c.err)
		if got.Error() != c.want || !plaintext.Is(got.Error()) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

type refuse struct {
	rpc.UnimplementedAggregatorHandler
	err error
}

func (r refuse) GetTask(context.Context,
	*connect.Request[rpc.GetTaskRequest]) (*connect.Response[rpc.GetTaskResponse], error) {
	if r.err != nil {
		return nil, r.err
	}
	return connect.NewResponse(new(rpc.GetTaskResponse)), nil
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range problem.Kinds() {
		if seen[k.String()] {
			t.Errorf("two kinds are named %s", k)
		}
		seen[k.String()] = true
	}
}

func TestOtherErrorsKeepTheirWords(t *testing.T) {
	p := problem.Of(fmt.Errorf("open reports.db: %w", errors.New("disk on fire")))
	if p.Kind != problem.Internal || p.Detail != "" {
		t.Errorf("got %v, want an internal problem without the words", p)
	}
	wrapped := fmt.Errorf("upload: %w", problem.New(problem.Late, "round 1"))
	if p := problem.Of(wrapped); p.Kind != problem.Late {
		t.Errorf("got %v, want what was wrapped", p)
	}
	later := problem.FromProto(&rpc.Problem{Type: "urn:discreet:problem:of-next-year", Title: "new", Detail: "thing"})
	if later.Kind != problem.Internal || later.Detail != `"new": "thing"` {
		t.Errorf("got %v, want an internal problem that keeps the words", later)
	}
}
