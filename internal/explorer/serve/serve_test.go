// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/discreet-dp/discreet/internal/explorer/engine"
	"github.com/discreet-dp/discreet/internal/explorer/web"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/census"
)

const visits = `name: visits
unit: one visit
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, trim: false, missing: []}
columns:
  - {name: age, role: private, number: {lower: 0, upper: 100, default: 50}}
  - {name: ill, role: private, label: {levels: [a, b], positive: b, default: a}}
`

// startServer serves invented files, with a ledger in which data sets visits and later have a total of ε = 1 each.
func startServer(t *testing.T) *Server {
	t.Helper()
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for _, name := range []string{"visits", "later"} {
		if err := l.Declare(t.Context(), ledger.Dataset{Name: name, Epsilon: dp.Nano}); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"index.html": {Data: []byte("<p>page")}, "explorer.wasm.gz": {Data: []byte("packed")},
		"web.go": {Data: []byte("package web")}, "worker.js": {Data: []byte("own")}}
	server, err := New(listener, &Ledger{l, "visits", "later"}, files, fstest.MapFS{"worker.js": {Data: []byte("other")}})
	if err != nil {
		t.Fatal(err)
	}
	go server.Run(t.Context(), listener)
	return server
}

// request is one to the server, with what a page sends along.
func (s *Server) request(t *testing.T, method, path, body string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.hosts[0]+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+s.hosts[0])
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

func set(key, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(key, value) }
}

func named(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }

// invented are 100 rows.
var invented = "age,ill\n" + strings.Repeat("30,a\n70,b\n", 50)

func chargeOf(t *testing.T, epsilon, job string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"yaml": visits, "learner": "additive", "epsilon": epsilon, "delta": "0", "job": job,
		"rows": 100, "use": "train"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFilesByExactPathsAlone(t *testing.T) {
	s := startServer(t)
	for path, want := range map[string]string{"/": "<p>page", "/index.html": "<p>page", "/worker.js": "own", "/explorer.wasm": "packed",
		"/counted.js": "export const counted = true, files = true;\n", "/census.yaml": string(census.SchemaYAML()),
		"/people.csv": string(census.CSV(0, census.People))} {
		status, body, header := s.request(t, "GET", path, "", nil)
		if status != 200 || body != want {
			t.Errorf("%s: %d %q", path, status, body)
		}
		if got := header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'self' 'wasm-unsafe-eval';") || strings.Contains(got, "unsafe-inline") {
			t.Errorf("%s: policy %q", path, got)
		}
		if path == "/explorer.wasm" && header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s must say that it is packed", path)
		}
	}
	for _, path := range []string{"/web.go", "/explorer.wasm.gz", "/../serve.go", "/%2e%2e/serve.go", "//worker.js", "/./worker.js",
		"/worker.js/", "/WORKER.JS", "/worker.js%00", "/..%2fworker.js", "/c:/x.js", "/engine/explorer.wasm"} {
		if status, body, _ := s.request(t, "GET", path, "", nil); status != http.StatusNotFound {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		if status, _, _ := s.request(t, method, "/worker.js", "", nil); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, status)
		}
	}
}

// Whoever lacks the token, comes from another page or by another name charges nothing and learns nothing.
func TestStrangersAreRefused(t *testing.T) {
	s := startServer(t)
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"no token":        {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another token":   {set("Authorization", "Bearer "+strings.Repeat("A", len(s.token))), 401},
		"a part of it":    {set("Authorization", "Bearer "+s.token[1:]), 401},
		"an empty token":  {set("Authorization", "Bearer "), 401},
		"another origin":  {set("Origin", "http://example.com"), 403},
		"another port":    {set("Origin", "http://127.0.0.1:1"), 403},
		"a null origin":   {set("Origin", "null"), 403},
		"no origin":       {func(r *http.Request) { r.Header.Del("Origin") }, 403},
		"a site beside":   {set("Sec-Fetch-Site", "same-site"), 403},
		"another site":    {set("Sec-Fetch-Site", "cross-site"), 403},
		"a form":          {set("Content-Type", "text/plain"), 403},
		"a rebound name":  {named("rebound.example.com:" + strings.Split(s.hosts[0], ":")[1]), 421},
		"another address": {named("192.0.2.1"), 421},
		"no port":         {named("127.0.0.1"), 421},
	} {
		status, body, _ := s.request(t, "POST", "/api/charge", chargeOf(t, "0.1", "monday"), c.change)
		if status != c.want || strings.Contains(body, s.token) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for name, change := range map[string]func(*http.Request){"rebound": named("evil.example"), "origin": set("Origin", "http://evil.example")} {
		if status, body, _ := s.request(t, "GET", "/index.html", "", change); status < 400 || strings.Contains(body, "page<") {
			t.Errorf("%s: a file is handed out with %d", name, status)
		}
	}
	_, body, _ := s.request(t, "GET", "/api/budget", "", nil)
	if !strings.Contains(body, `"spent":"0"`) {
		t.Errorf("something was charged: %s", body)
	}
}

// TestRequestsSayEachThingOnce: what a request says twice, or after its end, is refused, and charges nothing.
func TestRequestsSayEachThingOnce(t *testing.T) {
	s := startServer(t)
	good := chargeOf(t, "0.1", "monday")
	for name, body := range map[string]string{
		"a second value":        good + good,
		"rubbish behind it":     good + "x",
		"a key twice":           strings.Replace(good, "{", `{"job":"other",`, 1),
		"a key in another case": strings.Replace(good, "{", `{"JOB":"other",`, 1),
		"a deep value":          strings.Replace(good, "{", `{"job":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`,`, 1),
	} {
		if status, said, _ := s.request(t, "POST", "/api/charge", body, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	if _, body, _ := s.request(t, "GET", "/api/budget", "", nil); !strings.Contains(body, `"spent":"0"`) {
		t.Errorf("something was charged: %s", body)
	}
}

// TestOneBodyAtATime: while a request with a body is read and answered, no other is read.
func TestOneBodyAtATime(t *testing.T) {
	s := startServer(t)
	if cap(s.bodies) != 1 {
		t.Errorf("%d bodies are read at a time", cap(s.bodies))
	}
	read := false
	gone, cancel := context.WithCancel(t.Context())
	cancel() // so that it does not wait
	waits := httptest.NewRequestWithContext(gone, "POST", "/api/charge", readerFunc(func([]byte) (int, error) {
		read = true
		return 0, io.EOF
	}))
	waits.Host = s.hosts[0]
	for name, value := range map[string]string{"Origin": "http://" + s.hosts[0], "Content-Type": "application/json",
		"Authorization": "Bearer " + s.token} {
		waits.Header.Set(name, value)
	}
	s.bodies <- struct{}{}
	s.ServeHTTP(httptest.NewRecorder(), waits)
	if read {
		t.Error("a second body is read")
	}
	<-s.bodies
	if status, said, _ := s.request(t, "POST", "/api/charge", chargeOf(t, "0.1", "monday"), nil); status != http.StatusOK {
		t.Errorf("the next request: %d %s", status, said)
	}
}

// readerFunc is a reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// The token is in neither the address nor the history once the page has read it.
func TestPageTakesTheTokenOutOfTheAddress(t *testing.T) {
	text, err := fs.ReadFile(web.Files, "app.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, after, _ := strings.Cut(string(text), `.get("token");`); !strings.HasPrefix(after, "\nif (token) history.replaceState(") {
		t.Error("app.js does not replace the address right after it has read the token")
	}
}

func TestLongRequestsAreRefused(t *testing.T) {
	s := startServer(t)
	if status, _, _ := s.request(t, "POST", "/api/charge", `{"yaml":"`+strings.Repeat("x", maxBody)+`"}`, nil); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: %d", status)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.hosts[0]+"/?"+strings.Repeat("x", 1<<20), nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := http.DefaultTransport.RoundTrip(r); err == nil {
		answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("a long address: %d", answer.StatusCode)
		}
	}
}

func TestSameJobIsChargedOnce(t *testing.T) {
	s := startServer(t)
	charge := func(epsilon, job string, want int) string {
		t.Helper()
		status, body, _ := s.request(t, "POST", "/api/charge", chargeOf(t, epsilon, job), nil)
		if status != want {
			t.Fatalf("ε = %s as %s: %d %s", epsilon, job, status, body)
		}
		return body
	}
	spent := func(want string) {
		t.Helper()
		if _, body, _ := s.request(t, "GET", "/api/budget", "", nil); !strings.Contains(body, `"spent":"`+want+`"`) {
			t.Fatalf("spent must be %s: %s", want, body)
		}
	}
	charge("0.6", "one", 200)
	spent("0.6")
	if body := charge("0.6", "one", 200); !strings.Contains(body, `"paid_before":true`) {
		t.Errorf("the same job: %s", body)
	}
	spent("0.6")
	if body := charge("0.5", "two", http.StatusConflict); !strings.Contains(body, "spent 0.6") {
		t.Errorf("what is left must be said: %s", body)
	}
	charge("0.3", "one", http.StatusConflict) // the same name, another training
	spent("0.6")
	charge("0", "three", http.StatusBadRequest)
	withRow := strings.Replace(chargeOf(t, "0.1", "four"), "{", `{"cells":["47"],`, 1)
	for _, body := range []string{withRow, `{"rows":[[1]]}`, `{"job":"x","cells":1}`, `[]`, ``, `{"yaml":1}`} {
		if status, _, _ := s.request(t, "POST", "/api/charge", body, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d", body, status)
		}
	}
	// A page that was closed meanwhile finds the job of the same choices, and no other.
	find := func(epsilon string) string {
		t.Helper()
		status, body, _ := s.request(t, "POST", "/api/find", chargeOf(t, epsilon, ""), nil)
		if status != 200 {
			t.Fatalf("find: %d %s", status, body)
		}
		return strings.TrimSpace(body)
	}
	if got := find("0.6"); got != `{"job":"one"}` {
		t.Errorf("the job that is open: %s", got)
	}
	if got := find("0.5"); got != `{}` {
		t.Errorf("a job that was refused: %s", got)
	}
	// What was trained under the job is its one result.
	train := func(epsilon, job string) string {
		t.Helper()
		args, err := json.Marshal(map[string]any{"yaml": visits, "learner": "additive", "epsilon": epsilon, "delta": "0", "name": "v.csv", "job": job})
		if err != nil {
			t.Fatal(err)
		}
		table := invented
		trained, err := new(engine.Engine).Call(t.Context(), "train", args,
			&engine.File{ReaderAt: strings.NewReader(table), Size: int64(len(table))}, func(any) {})
		if err != nil {
			t.Fatal(err)
		}
		return trained.(map[string]any)["model"].(string)
	}
	text := train("0.6", "one")
	keep := func(model string, want int) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"job": "one", "result": model})
		if err != nil {
			t.Fatal(err)
		}
		if status, got, _ := s.request(t, "POST", "/api/result", string(body), nil); status != want {
			t.Fatalf("keep: %d %s", status, got)
		}
	}
	keep("{}", http.StatusBadRequest)
	keep(train("0.6", ""), http.StatusBadRequest) // not counted
	keep(train("0.7", "one"), http.StatusBadRequest)
	keep(text, 200)
	keep(text, http.StatusBadRequest) // it is there
	var again struct{ Result string }
	if err := json.Unmarshal([]byte(charge("0.6", "one", 200)), &again); err != nil || again.Result != text {
		t.Errorf("a finished job must have its model: %v", err)
	}
	spent("0.6")
	if got := find("0.6"); got != `{}` {
		t.Errorf("a job that is finished is found: %s", got)
	}
	judgeOnce(t, s, text, train)
}

// judgeOnce pays for an evaluation of a model on held-out rows, which are another data set.
func judgeOnce(t *testing.T, s *Server, text string, train func(epsilon, job string) string) {
	t.Helper()
	post := func(call string, body args, want int) string {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		status, got, _ := s.request(t, "POST", "/api/"+call, string(text), nil)
		if status != want {
			t.Fatalf("%s: %d %s", call, status, got)
		}
		return got
	}
	plan := args{"yaml": visits, "epsilon": "0.7", "delta": "0", "rows": 100, "job": "judged", "use": "evaluate", "model": text}
	post("charge", plan, 200)
	_, body, _ := s.request(t, "GET", "/api/budget", "", nil)
	var shown struct {
		Datasets []struct{ Name, Spent string }
	}
	if err := json.Unmarshal([]byte(body), &shown); err != nil || len(shown.Datasets) != 2 ||
		shown.Datasets[0].Spent != "0.6" || shown.Datasets[1].Name != "later" || shown.Datasets[1].Spent != "0.7" {
		t.Errorf("an evaluation is charged to the held-out rows: %v %s", err, body)
	}
	evaluate := func(epsilon string) string {
		asked, err := json.Marshal(args{"model": text, "yaml": visits, "name": "v.csv", "epsilon": epsilon, "delta": "0", "job": "judged"})
		if err != nil {
			t.Fatal(err)
		}
		table := "age,ill\n" + strings.Repeat("20,a\n80,b\n", 50)
		r, err := new(engine.Engine).Call(t.Context(), "evaluate", asked,
			&engine.File{ReaderAt: strings.NewReader(table), Size: int64(len(table))}, func(any) {})
		if err != nil {
			t.Fatal(err)
		}
		return r.(map[string]any)["released"].(string)
	}
	released := evaluate("0.7")
	post("result", args{"job": "judged", "result": train("0.7", "judged")}, http.StatusBadRequest) // a model
	post("result", args{"job": "judged", "result": evaluate("0.6")}, http.StatusBadRequest)
	post("result", args{"job": "judged", "result": released}, 200)
	var again struct{ Result string }
	if err := json.Unmarshal([]byte(post("charge", plan, 200)), &again); err != nil || again.Result != released {
		t.Errorf("a finished evaluation must have its numbers: %v", err)
	}
	plan["job"], plan["use"] = "other", "look"
	post("charge", plan, http.StatusBadRequest)
	plan["use"], s.budget.l.HeldOut = "evaluate", ""
	if got := post("charge", plan, http.StatusBadRequest); !strings.Contains(got, "held-out") {
		t.Errorf("without a data set of held-out rows: %s", got)
	}
}

type args = map[string]any

// TestResultsAreWhatWasCharged pays for a training by each learner and stores its model; one that states
// another learner, scope, relation, unit or bill at the same price is not stored. The bill follows the
// number of rows of the file.
func TestResultsAreWhatWasCharged(t *testing.T) {
	s := startServer(t)
	bills := map[string]bool{}
	train := func(learner, yaml, table, job string) string {
		t.Helper()
		file := func() *engine.File { return &engine.File{ReaderAt: strings.NewReader(table), Size: int64(len(table))} }
		counted, err := new(engine.Engine).Call(t.Context(), "count", asJSON(t, args{"yaml": yaml, "name": "v.csv"}), file(), func(any) {})
		if err != nil {
			t.Fatal(err)
		}
		plan := args{"yaml": yaml, "learner": learner, "epsilon": "0.1", "delta": "0", "rows": counted.(map[string]int)["units"], "job": job}
		trained, err := new(engine.Engine).Call(t.Context(), "train", asJSON(t, merge(plan, args{"name": "v.csv"})), file(), func(any) {})
		if err != nil {
			t.Fatalf("%s: %v", learner, err)
		}
		if status, body, _ := s.request(t, "POST", "/api/charge", string(asJSON(t, merge(plan, args{"use": "train"}))), nil); status != 200 {
			t.Fatalf("%s: %d %s", job, status, body)
		}
		return trained.(map[string]any)["model"].(string)
	}
	keep := func(job, text string) int {
		status, _, _ := s.request(t, "POST", "/api/result", string(asJSON(t, args{"job": job, "result": text})), nil)
		return status
	}
	long := invented + strings.Repeat("10,a\n", 900)
	public := strings.Replace(visits, "age, role: private", "age, role: public", 1)
	for i, c := range []struct{ learner, yaml, table string }{{"labeldp", public, invented}, {"additive", visits, invented}, {"auto", visits, invented},
		{"grids", visits, invented}, {"brc", visits, invented}, {"erm", visits, invented}, {"additive", visits, long}} {
		job := fmt.Sprint("job", i)
		text := train(c.learner, c.yaml, c.table, job)
		m, err := model.Unmarshal([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		bills[fmt.Sprint(m.Privacy.Bill)] = true
		for what, change := range map[string]func(*model.Model){
			"learner":  func(m *model.Model) { m.Learner = "logistic" },
			"scope":    func(m *model.Model) { m.Privacy.Scope = dp.PrivateFeatures },
			"relation": func(m *model.Model) { m.Privacy.Relation = dp.AddRemove },
			"unit":     func(m *model.Model) { m.Privacy.Unit = "a year of visits" },
			"bill":     func(m *model.Model) { m.Privacy.Bill[0].Release += " of others" },
			"counted":  func(m *model.Model) { m.Privacy.Counted = false },
		} {
			other, err := model.Unmarshal([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			change(other)
			if forged, err := model.Marshal(other); err == nil && keep(job, string(forged)) == 200 {
				t.Errorf("%s: a model of another %s is stored", c.learner, what)
			}
		}
		if status := keep(job, text); status != 200 {
			t.Errorf("%s: the model that was paid for is not stored: %d", c.learner, status)
		}
	}
	if len(bills) < 6 {
		t.Errorf("only %d bills", len(bills))
	}
}

func merge(all ...args) args {
	out := args{}
	for _, a := range all {
		maps.Copy(out, a)
	}
	return out
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A program without an engine says what to do.
func TestAbsentEngineIsRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = New(listener, nil, fstest.MapFS{"index.html": {}})
	if refused, ok := errors.AsType[*dp.ParamError](err); !ok || !strings.Contains(refused.Hint, "make explorer") {
		t.Errorf("got %v", err)
	}
}
