// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/discreet-dp/discreet/internal/ground/places"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const kit = "../../check/testkit/model/"

// kinds are files of a model of each kind.
var kinds = []string{"v1-votes", "v1-logistic", "v3-softmax", "v3-one-vs-rest", "v3-ballots", "v3-log-odds", "v3-norm",
	"v5-derived"}

// newServer serves models of the kit, whose files are copied so that they can be replaced.
func newServer(t testing.TB, edit func(*Options), names ...string) (s *Server, dir string) {
	t.Helper()
	dir = t.TempDir()
	o := DefaultOptions()
	o.Log = slog.New(slog.DiscardHandler)
	for _, name := range names {
		writeFile(t, filepath.Join(dir, name+".json"), kitFile(t, name))
		o.Models = append(o.Models, filepath.Join(dir, name+".json"))
	}
	if edit != nil {
		edit(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// kitFile is a file of the kit, whose models are seeded, as if it were not.
func kitFile(t testing.TB, name string) []byte {
	t.Helper()
	m, err := model.Load(kit + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	m.Privacy.Seeded = false
	file, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func writeFile(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// rowsOf are cells of some rows, by input: numbers, texts and nil.
func rowsOf(s *served, rows int) [][]any {
	out := make([][]any, len(s.columns))
	for i, name := range s.columns {
		j := slices.IndexFunc(s.m.Schema.Columns, func(c schema.Column) bool { return c.Name == name })
		c := &s.m.Schema.Columns[j]
		for r := range rows {
			switch {
			case r%7 == 3 && (c.Kind == schema.Category || c.Default != nil):
				out[i] = append(out[i], nil)
			case c.Kind == schema.Number:
				out[i] = append(out[i], c.Lower+(c.Upper-c.Lower)*float64((r*(i+3))%11)/9)
			default:
				texts := []string{"somebody"}
				for _, l := range c.Levels {
					texts = append(texts, l.Value)
				}
				out[i] = append(out[i], texts[(r+i)%len(texts)])
			}
		}
	}
	return out
}

// naiveScores codes and scores the same rows without the server, and counts cells that are not as declared.
func naiveScores(t *testing.T, s *served, rows [][]any) (scores []float64, labels []string, odd map[string]int64) {
	t.Helper()
	coder, err := coding.NewRowCoder(s.m.Schema)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.m.RowPredictor()
	if err != nil {
		t.Fatal(err)
	}
	for r := range rows[0] {
		cells := make([]column.Cell, len(s.m.Schema.Columns))
		for i := range rows {
			c := coding.Cell{}
			switch v := rows[i][r].(type) {
			case float64:
				c = coding.NumberCell(v)
			case string:
				c = coding.TextCell(v)
			}
			fate, err := coder.Code(i, c, cells)
			if err != nil {
				t.Fatal(err)
			}
			name := s.columns[i]
			if of := s.m.Schema.Columns[s.m.Schema.Find(name)]; fate != coding.Read && (fate != coding.Missing || !of.Missing) {
				if odd == nil {
					odd = map[string]int64{}
				}
				odd[name+[]string{"", ".missing", ".other", ".clamped", ".unreadable"}[fate]]++
			}
		}
		coder.Derive(cells)
		one := make([]float64, p.Width())
		if err := p.Scores(cells, one); err != nil {
			t.Fatal(err)
		}
		scores, labels = append(scores, one...), append(labels, s.classes[s.m.Label(one)])
	}
	return scores, labels, odd
}

func bodyOf(t testing.TB, s *served, rows [][]any) []byte {
	t.Helper()
	var inputs []map[string]any
	for i, name := range s.columns {
		kind := "BYTES"
		if s.numbers[i] {
			kind = "FP64"
		}
		inputs = append(inputs, map[string]any{"name": name, "datatype": kind, "shape": []int{len(rows[i]), 1},
			"data": rows[i]})
	}
	text, err := json.Marshal(map[string]any{"id": "seven", "inputs": inputs})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func post(t testing.TB, h http.Handler, path string, body []byte, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	for k := 0; k < len(header); k += 2 {
		r.Header.Set(header[k], header[k+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Answers over HTTP, in JSON and in binary, are to the last bit what the model says.
func TestHTTPAgrees(t *testing.T) {
	s, _ := newServer(t, nil, kinds...)
	for _, slot := range s.models {
		m := slot.now.Load()
		rows := rowsOf(m, 40)
		scores, labels, odd := naiveScores(t, m, rows)
		path := "/v2/models/" + m.name + "/versions/" + m.version + "/infer"
		body := bodyOf(t, m, rows)
		w := post(t, s.Handler(), path, body)
		var answer struct {
			ID         string
			Parameters map[string]int64
			Outputs    []struct {
				Name  string
				Shape []int
				Data  json.RawMessage
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 || answer.ID != "seven" {
			t.Fatalf("%s: %d %s: %v", m.name, w.Code, w.Body, err)
		}
		var gotLabels []string
		var gotScores []float64
		if json.Unmarshal(answer.Outputs[0].Data, &gotLabels) != nil ||
			json.Unmarshal(answer.Outputs[1].Data, &gotScores) != nil {
			t.Fatalf("%s: outputs cannot be read", m.name)
		}
		if !slices.Equal(gotLabels, labels) || !slices.Equal(gotScores, scores) {
			t.Errorf("%s: labels %v and scores %v, want %v and %v", m.name, gotLabels, gotScores, labels, scores)
		}
		if len(odd) == 0 || !maps.Equal(answer.Parameters, odd) {
			t.Errorf("%s: counts %v, want %v", m.name, answer.Parameters, odd)
		}
		if shape := answer.Outputs[1].Shape; shape[0] != 40 || shape[1] != m.scorer.Width() {
			t.Errorf("%s: scores have the shape %v", m.name, shape)
		}
		// The same in binary; without missing cells, for which binary has no text.
		for i := range rows {
			for r := range rows[i] {
				if rows[i][r] == nil && !m.numbers[i] {
					rows[i][r] = "somebody"
				}
			}
		}
		scores, labels, _ = naiveScores(t, m, rows)
		header, raw := binaryBody(t, m, rows)
		w = post(t, s.Handler(), "/v2/models/"+m.name+"/infer", append(header, raw...), binaryHeader,
			fmt.Sprint(len(header)), "Content-Type", "application/octet-stream")
		var cut int
		if _, err := fmt.Sscan(w.Header().Get(binaryHeader), &cut); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s: %v", m.name, w.Code, w.Body, err)
		}
		rest := w.Body.Bytes()[cut:]
		for r, label := range labels {
			if n := binary.LittleEndian.Uint32(rest); string(rest[4:4+n]) != label {
				t.Errorf("%s: binary label of row %d is %q, want %q", m.name, r, rest[4:4+n], label)
			}
			rest = rest[4+len(label):]
		}
		for k, want := range scores {
			if got := math.Float64frombits(binary.LittleEndian.Uint64(rest[8*k:])); got != want {
				t.Errorf("%s: binary score %d is %g, want %g", m.name, k, got, want)
			}
		}
	}
}

// The caller learns which of its cells were not as declared. Metrics and the log are those of any other request.
func TestCellsAreToldToTheCallerAlone(t *testing.T) {
	var log [2]bytes.Buffer
	var answers, metrics [2]string
	for k, odd := range []bool{false, true} {
		s, _ := newServer(t, func(o *Options) {
			o.Log = slog.New(slog.NewTextHandler(&log[k], &slog.HandlerOptions{Level: slog.LevelDebug,
				ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				}}))
			o.Clock = func() time.Time { return time.Time{} }
		}, "v1-logistic")
		m := s.models[0].now.Load()
		rows := make([][]any, len(m.columns))
		for i, name := range m.columns {
			c := &m.m.Schema.Columns[m.m.Schema.Find(name)]
			switch {
			case odd && (c.Kind == schema.Category || c.Default != nil):
				rows[i] = []any{"CANARY"}
			case c.Kind == schema.Category:
				rows[i] = []any{c.Levels[0].Value}
			default:
				rows[i] = []any{c.Lower}
			}
		}
		body := bytes.ReplaceAll(bodyOf(t, m, rows), []byte("FP64"), []byte("BYTES"))
		w := post(t, s.Handler(), "/v2/models/v1-logistic/infer", body)
		answers[k] = w.Body.String()
		w = httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		metrics[k] = w.Body.String()
	}
	if strings.Contains(answers[0], "parameters") || !strings.Contains(answers[1], `"parameters":{"`) ||
		!strings.Contains(answers[1], `.unreadable":1`) || strings.Contains(answers[1], "CANARY") {
		t.Errorf("%s\n%s", answers[0], answers[1])
	}
	if metrics[0] != metrics[1] || log[0].String() != log[1].String() || log[0].Len() == 0 {
		t.Errorf("cells show in metrics or in the log:\n%s\n%s", log[0].String(), log[1].String())
	}
}

// A whole row may be sent: columns of the table that the model does not read change nothing. The models are listed.
func TestWholeRowsAndListOfModels(t *testing.T) {
	s, dir := newServer(t, nil, "v1-votes")
	m, err := model.Unmarshal(kitFile(t, "v1-votes"))
	if err != nil {
		t.Fatal(err)
	}
	m.Schema.Columns = append(m.Schema.Columns, schema.Column{Name: "unread", Role: schema.Ignored})
	file, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir+"/v1-votes.json", file)
	s.Reload()
	now := s.models[0].now.Load()
	body := string(bodyOf(t, now, rowsOf(now, 2)))
	whole := strings.Replace(body, `"inputs":[`, `"inputs":[{"name":"unread","datatype":"BYTES","shape":[2],"data":["a","b"]},`, 1)
	const path = "/v2/models/v1-votes/infer"
	one, other := post(t, s.Handler(), path, []byte(body)), post(t, s.Handler(), path, []byte(whole))
	if one.Code != 200 || one.Body.String() != other.Body.String() {
		t.Errorf("%d %s\n%d %s", one.Code, one.Body, other.Code, other.Body)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v2/models", nil))
	if want := `{"models":[{"name":"v1-votes","version":"` + now.version + `"}]}`; strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%s, not %s", w.Body, want)
	}
}

// The row of the pages has an input for each column of the table that they train on.
func TestRowOfThePages(t *testing.T) {
	const folder = "../../../examples/quickstart/"
	text, err := os.ReadFile(folder + "row.json")
	if err != nil {
		t.Fatal(err)
	}
	var row struct {
		Inputs []struct {
			Name     string
			Datatype string
			Data     []any
		}
	}
	if err := json.Unmarshal(text, &row); err != nil {
		t.Fatal(err)
	}
	s, err := schema.Load(folder + "census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range s.Columns {
		if k >= len(row.Inputs) || row.Inputs[k].Name != c.Name || len(row.Inputs[k].Data) != 1 ||
			(row.Inputs[k].Datatype == "FP64") != (c.Kind == schema.Number) {
			t.Errorf("input %d is not for %s: %v", k, c.Name, row.Inputs)
		}
	}
}

// binaryBody is a request by the binary extension, of inputs and outputs.
func binaryBody(t testing.TB, s *served, rows [][]any) (header, raw []byte) {
	t.Helper()
	var inputs []map[string]any
	for i, name := range s.columns {
		from, kind := len(raw), "FP64"
		for _, v := range rows[i] {
			switch v := v.(type) {
			case string:
				kind = "BYTES"
				raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(v))), v...)
			case float64:
				raw = appendDoubles(raw, []float64{v})
			default:
				raw = appendDoubles(raw, []float64{math.NaN()})
			}
		}
		inputs = append(inputs, map[string]any{"name": name, "datatype": kind, "shape": []int{len(rows[i])},
			"parameters": map[string]any{"binary_data_size": len(raw) - from}})
	}
	header, err := json.Marshal(map[string]any{"inputs": inputs, "parameters": map[string]any{"binary_data_output": true}})
	if err != nil {
		t.Fatal(err)
	}
	return header, raw
}

// listen serves until the test ends and returns the address.
func listen(t *testing.T, s *Server) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return l.Addr().String()
}

// Answers over gRPC, raw and not, are to the last bit what the model says.
func TestGRPCAgrees(t *testing.T) {
	s, _ := newServer(t, nil, kinds...)
	address := listen(t, s)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	client := oip.NewGRPCInferenceServiceClient(&http.Client{Transport: transport}, "http://"+address, connect.WithGRPC())
	for _, slot := range s.models {
		m := slot.now.Load()
		rows := rowsOf(m, 30)
		for i := range rows {
			for r := range rows[i] {
				if rows[i][r] == nil && !m.numbers[i] {
					rows[i][r] = "somebody"
				}
			}
		}
		scores, labels, odd := naiveScores(t, m, rows)
		for _, raw := range []bool{false, true} {
			r := &oip.ModelInferRequest{ModelName: m.name, Id: "9"}
			for i, name := range m.columns {
				in := &oip.ModelInferRequest_InferInputTensor{Name: name, Datatype: "BYTES", Shape: []int64{30, 1}}
				contents, bytes := new(oip.InferTensorContents), []byte(nil)
				for _, v := range rows[i] {
					if text, ok := v.(string); ok {
						contents.BytesContents = append(contents.BytesContents, []byte(text))
						bytes = append(binary.LittleEndian.AppendUint32(bytes, uint32(len(text))), text...)
						continue
					}
					x, ok := v.(float64)
					if !ok {
						x = math.NaN()
					}
					in.Datatype = "FP64"
					contents.Fp64Contents = append(contents.Fp64Contents, x)
					bytes = appendDoubles(bytes, []float64{x})
				}
				if raw {
					r.RawInputContents = append(r.RawInputContents, bytes)
				} else {
					in.Contents = contents
				}
				r.Inputs = append(r.Inputs, in)
			}
			answer, err := client.ModelInfer(t.Context(), connect.NewRequest(r))
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			var got []float64
			var said []string
			if raw {
				cells, err := readBinary("FP64", answer.Msg.GetRawOutputContents()[1], len(scores))
				if err != nil || len(cells) != len(scores) {
					t.Fatalf("%s: %v", m.name, err)
				}
				for k := range scores {
					got = append(got, math.Float64frombits(binary.LittleEndian.Uint64(answer.Msg.GetRawOutputContents()[1][8*k:])))
				}
				said = labels
			} else {
				got = answer.Msg.GetOutputs()[1].GetContents().GetFp64Contents()
				for _, b := range answer.Msg.GetOutputs()[0].GetContents().GetBytesContents() {
					said = append(said, string(b))
				}
			}
			counted := map[string]int64{}
			for key, p := range answer.Msg.GetParameters() {
				counted[key] = p.GetInt64Param()
			}
			if !maps.Equal(counted, odd) {
				t.Errorf("%s: counts %v, want %v", m.name, counted, odd)
			}
			if !slices.Equal(got, scores) || !slices.Equal(said, labels) {
				t.Errorf("%s: raw %v: scores %v, want %v", m.name, raw, got, scores)
			}
		}
	}
	live, err := client.ServerLive(t.Context(), connect.NewRequest(&oip.ServerLiveRequest{}))
	if err != nil || !live.Msg.GetLive() {
		t.Errorf("the server must live: %v", err)
	}
	_, err = client.ModelMetadata(t.Context(), connect.NewRequest(&oip.ModelMetadataRequest{Name: "stranger"}))
	if connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("metadata of a stranger: %v", err)
	}
}

// What is not a request is refused with a typed error that repeats none of it, and no
// line of the log has a cell in it.
func TestRefusals(t *testing.T) {
	var log bytes.Buffer
	s, _ := newServer(t, func(o *Options) {
		o.MaxBody, o.MaxRows = 5000, 50
		o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, "v1-votes")
	m := s.models[0].now.Load()
	good := string(bodyOf(t, m, rowsOf(m, 1)))
	const path = "/v2/models/v1-votes/infer"
	with := func(old, new string) []byte {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("the body has no %s: %s", old, good)
		}
		return []byte(strings.Replace(good, old, new, 1))
	}
	for _, c := range []struct {
		what, path string
		body       []byte
		header     []string
		status     int
	}{
		{"nothing", path, nil, nil, 400},
		{"no JSON", path, []byte("canary"), nil, 400},
		{"half of it", path, []byte(good[:len(good)/2]), nil, 400},
		{"no inputs", path, []byte(`{"id":"canary"}`), nil, 400},
		{"a strange column", path, with(`"name":"age"`, `"name":"canary"`), nil, 400},
		{"a column twice", path, with(`"name":"age"`, `"name":"ward"`), nil, 400},
		{"a strange type", path, with(`"datatype":"FP64"`, `"datatype":"canary"`), nil, 400},
		{"a shape of three", path, with(`"shape":[1,1]`, `"shape":[1,1,1]`), nil, 400},
		{"a negative shape", path, with(`"shape":[1,1]`, `"shape":[-1,1]`), nil, 400},
		{"a huge shape", path, with(`"shape":[1,1]`, `"shape":[9223372036854775807,1]`), nil, 400},
		{"another shape", path, with(`"shape":[1,1]`, `"shape":[2,1]`), nil, 400},
		{"an object as a cell", path, with(`"data":[`, `"data":[{"canary":1},`), nil, 400},
		{"no number", path, with(`"data":[`, `"data":[1e999,`), nil, 400},
		{"no list", path, with(`"data":[`, `"data":7,"more":[`), nil, 400},
		{"binary data that are not there", path, []byte(good), []string{binaryHeader, "99999"}, 400},
		{"a strange header", path, []byte(good), []string{binaryHeader, "canary"}, 400},
		{"more behind the JSON", path, []byte(good + "more"), []string{binaryHeader, fmt.Sprint(len(good))}, 400},
		{"a strange output", path, []byte(`{"outputs":[{"name":"canary"}],` + good[1:]), nil, 400},
		{"an output twice", path, []byte(`{"outputs":[{"name":"label"},{"name":"label"}],` + good[1:]), nil, 400},
		{"another kind of body", path, []byte(good), []string{"Content-Type", "text/canary"}, 415},
		{"a compressed body", path, []byte(good), []string{"Content-Encoding", "gzip"}, 415},
		{"a large body", path, bytes.Repeat([]byte(" "), 5001), nil, 413},
		{"many rows", path, bodyOf(t, m, rowsOf(m, 51)), nil, 400},
		{"a strange model", "/v2/models/canary/infer", []byte(good), nil, 404},
		{"a strange version", "/v2/models/v1-votes/versions/canary/infer", []byte(good), nil, 404},
		{"a strange path", "/v2/canary", []byte(good), nil, 404},
	} {
		w := post(t, s.Handler(), c.path, c.body, c.header...)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.what, w.Code, c.status, w.Body)
		}
		var said map[string]string
		if c.what != "a strange path" && (json.Unmarshal(w.Body.Bytes(), &said) != nil || said["error"] == "") {
			t.Errorf("%s: the body must say what is wrong: %s", c.what, w.Body)
		}
		if strings.Contains(w.Body.String(), "canary") {
			t.Errorf("%s: the request is repeated: %s", c.what, w.Body)
		}
	}
	if w := post(t, s.Handler(), path, with(`"somebody"`, `"canary"`)); w.Code != 200 {
		t.Errorf("an undeclared text: %d %s", w.Code, w.Body)
	}
	if w := post(t, s.Handler(), path, []byte(good), "Content-Type", "application/x-www-form-urlencoded"); w.Code != 200 {
		t.Errorf("as curl -d sends it: %d %s", w.Code, w.Body)
	}
	if strings.Contains(log.String(), "canary") || !strings.Contains(log.String(), `"scored":1`) {
		t.Errorf("the log must have the request and nothing of it: %s", &log)
	}
	s.places = places.New[caller](1, 0, 1, 0)
	if _, err := s.places.Take(t.Context(), 0, 1); err != nil {
		t.Fatal(err)
	}
	if w := post(t, s.Handler(), path, []byte(good)); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("a busy server: %d %s", w.Code, w.Body)
	}
}

// Each fault of the inputs has words of its own, which name the model's column.
func TestEachFaultOfInputsIsNamed(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	m := s.models[0].now.Load()
	good := string(bodyOf(t, m, rowsOf(m, 1)))
	seen := map[string]bool{}
	for _, c := range []struct{ old, new, want string }{
		{good, `{"inputs":[]}`, "inputs must be given"},
		{good, `{"inputs":[{"name":"age","shape":[1],"datatype":"FP64","data":[4]}]}`, `the input for column "`},
		{`"name":"age"`, `"name":"Age"`, `must be named "age" to the letter`},
		{`"name":"age"`, `"name":"canary"`, "must be a column of the model"},
		{`"name":"age"`, `"name":"ward"`, "must not be given twice"},
		{`"datatype":"FP64"`, `"datatype":"canary"`, "data type"},
		{`"shape":[1,1]`, `"shape":[-1,1]`, "shape"},
	} {
		w := post(t, s.Handler(), "/v2/models/v1-votes/infer", []byte(strings.Replace(good, c.old, c.new, 1)))
		text := w.Body.String()
		if w.Code != 400 || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), c.want) || seen[text] || strings.Contains(text, "canary") {
			t.Errorf("%s: status %d and %s; want %s", c.new, w.Code, text, c.want)
		}
		seen[text] = true
	}
}

// A call of gRPC that is refused is not repeated either.
func TestGRPCRefusalsRepeatNothing(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	type tensor = oip.ModelInferRequest_InferInputTensor
	text := &oip.InferTensorContents{BytesContents: [][]byte{[]byte("canary")}}
	var every, binary []*tensor // of all columns, or the lack of one is told first
	var raw [][]byte
	for _, in := range s.models[0].now.Load().describe().Inputs {
		every = append(every, &tensor{Name: in.Name, Datatype: "canary", Shape: []int64{1}, Contents: text})
		binary = append(binary, &tensor{Name: in.Name, Datatype: "canary", Shape: []int64{1}})
		raw = append(raw, []byte("canary"))
	}
	for what, r := range map[string]*oip.ModelInferRequest{
		"a strange model":       {ModelName: "canary"},
		"a strange version":     {ModelName: "v1-votes", ModelVersion: "canary"},
		"a strange type":        {ModelName: "v1-votes", Inputs: every},
		"a strange binary type": {ModelName: "v1-votes", Inputs: binary, RawInputContents: raw},
		"a strange column": {ModelName: "v1-votes", Inputs: []*tensor{{Name: "canary", Datatype: "BYTES", Shape: []int64{1},
			Contents: text}}},
		"a strange output": {ModelName: "v1-votes",
			Outputs: []*oip.ModelInferRequest_InferRequestedOutputTensor{{Name: "canary"}}},
	} {
		_, err := calls{s}.ModelInfer(t.Context(), connect.NewRequest(r))
		if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(what, "type") != strings.Contains(err.Error(), "type") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// Without a token nothing but health is told.
func TestTokens(t *testing.T) {
	s, _ := newServer(t, func(o *Options) { o.Tokens = []string{"a token of the test"} }, "v1-votes")
	for _, path := range []string{"/v2", "/v2/models/v1-votes", "/metrics", "/v2/models/v1-votes/ready",
		"/inference.GRPCInferenceService/ServerLive"} {
		for token, want := range map[string]bool{"": false, "Bearer a token of the tesT": false,
			"Basic a token of the test": false, "Bearer a token of the test": true} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Authorization", token)
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if passed := w.Code != 401; passed != want {
				t.Errorf("%s with %q: %d", path, token, w.Code)
			}
		}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v2/health/ready", nil))
	if w.Code != 200 {
		t.Errorf("health: %d", w.Code)
	}
}

// A replaced file is served after a reload; one that cannot be served changes nothing.
func TestReload(t *testing.T) {
	s, dir := newServer(t, nil, "v1-votes")
	before := s.models[0].now.Load()
	s.Reload()
	if s.models[0].now.Load() != before {
		t.Error("a file that is the same was read again")
	}
	path := filepath.Join(dir, "v1-votes.json")
	writeFile(t, path, []byte("no model"))
	s.Reload()
	if s.models[0].now.Load() != before {
		t.Error("a file that is no model was taken over")
	}
	writeFile(t, path, kitFile(t, "v1-logistic"))
	s.Reload()
	if after := s.models[0].now.Load(); after.version == before.version || after.m.Learner == before.m.Learner {
		t.Error("a replaced file was not taken over")
	}
	if _, err := s.find("v1-votes", before.version); err == nil {
		t.Error("the old version is still served")
	}
}

// A server that is told to stop says so, answers what was asked, and leaves nothing behind.
func TestGracefulStop(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, _ := newServer(t, nil, "v1-votes")
	m := s.models[0].now.Load()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	ticks := make(chan time.Time)
	go func() { ended <- s.Serve(ctx, l, ticks) }()
	ticks <- time.Time{}
	body := bodyOf(t, m, rowsOf(m, 2))
	half, more := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://"+l.Addr().String()+"/v2/models/v1-votes/infer", half)
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	answered := make(chan string, 1)
	go func() {
		response, err := transport.RoundTrip(request)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		answered <- response.Status
	}()
	// Once the first half is taken the request is under way.
	if _, err := more.Write(body[:10]); err != nil {
		t.Fatal(err)
	}
	for held, _ := s.places.Standing(); held == 0; held, _ = s.places.Standing() { // the handler has begun
		runtime.Gosched()
	}
	stop()
	for s.isReady() {
		runtime.Gosched()
	}
	if _, err := more.Write(body[10:]); err != nil {
		t.Fatal(err)
	}
	more.Close()
	if status := <-answered; status != "200 OK" {
		t.Errorf("the request under way: %s", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// Seeded models, names and limits that are none are refused.
func TestNewRefuses(t *testing.T) {
	seeded, err := os.ReadFile(kit + "v1-votes.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadServed("m", "", seeded, nil); err == nil || !strings.Contains(err.Error(), "seeded") {
		t.Errorf("a seeded model: %v", err)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	writeFile(t, path, kitFile(t, "v1-votes"))
	for want, edit := range map[string]func(*Options){
		"model must be given":     func(o *Options) { o.Models = nil },
		"must have a name of let": func(o *Options) { o.Models = []string{"a b=" + path} },
		"must have a name of its": func(o *Options) { o.Models = append(o.Models, o.Models...) },
		"max body":                func(o *Options) { o.MaxBody = 0 },
		"max rows":                func(o *Options) { o.MaxRows = -1 },
		"concurrency must":        func(o *Options) { o.Concurrency = 0 },
		"memory must be 1":        func(o *Options) { o.Memory = 0 },
		"memory must be at least": func(o *Options) { o.Memory = o.MaxBody },
		"no such file":            func(o *Options) { o.Models = []string{"absent.json"} },
		"a model file must start": func(o *Options) { o.Models = []string{"t=serve_test.go"} },
	} {
		o := DefaultOptions()
		o.Models = []string{path}
		edit(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, p := range []Place{{Address: ":8080"}, {Address: "0.0.0.0:0", Cert: "c", Key: "k"}, {Address: "nowhere"},
		{Address: "localhost:0", Cert: "c"}} {
		if _, err := p.Listen(t.Context(), false); err == nil {
			t.Errorf("%+v was listened at", p)
		}
	}
}

// The program that serves has no loader of tables, learner, noise, randomness or ledger
// in it.
func TestLinkedPackages(t *testing.T) {
	const ours = "github.com/discreet-dp/discreet/"
	const program = ours + "cmd/discreet-serve"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		name, is := strings.CutPrefix(path, ours+"internal/")
		if !is {
			if path != program && strings.HasPrefix(path, ours) || strings.HasPrefix(path, "github.com/parquet-go") {
				t.Errorf("%s is linked", path)
			}
			continue
		}
		allowed := []string{"table/schema", "table/column", "table/read/coding", "table/feature", "model", "model/explain",
			"model/shrink", "serve/commands", "serve/inference", "serve/inference/oip", "release"}
		if strings.HasPrefix(name, "ground/") && name != "ground/sqldb" {
			continue
		}
		if !slices.Contains(allowed, name) {
			t.Errorf("%s is linked", name)
		}
	}
}

// FuzzReadRequest reads any body: it is refused or answered, and never fails.
func FuzzReadRequest(f *testing.F) {
	s, _ := newServer(f, nil, "v1-votes")
	m := s.models[0].now.Load()
	f.Add(bodyOf(f, m, rowsOf(m, 3)), 0)
	header, raw := binaryBody(f, m, rowsOf(m, 3))
	f.Add(append(header, raw...), len(header))
	f.Fuzz(func(t *testing.T, body []byte, length int) {
		c, err := readRequest(body, length, s.largestShape())
		if err == nil {
			var a *answer
			if a, err = m.predictRows(c, 1000, 1<<30); err == nil {
				text, raw := m.writeAnswer(c, a)
				if most, rest := m.answerLength(c, a); len(text) > most || len(raw) > rest {
					t.Errorf("%d and %d bytes, of %d and %d", len(text), len(raw), most, rest)
				}
				if !json.Valid(text) {
					t.Errorf("the answer is no JSON: %s", text)
				}
			}
		}
		if err != nil && statusOf(err) != 400 {
			t.Errorf("status %d: %v", statusOf(err), err)
		}
	})
}

// FuzzReadData compares with a reading by the standard library.
func FuzzReadData(f *testing.F) {
	for _, seed := range []string{`[1,2.5,"a",null,true]`, `[[1],[2]]`, `["\u00e9\"",-0,1e3]`, `[]`, `[[[]]]`, `[{}]`,
		`7`, `[9007199254740993, 1e999]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.TrimSpace(data)
		if !json.Valid(data) || !bytes.Equal(bytes.ToValidUTF8(data, nil), data) {
			t.Skip("readData is given valid JSON")
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Skip("too deep")
		}
		want, ok := flatten(nil, value)
		if _, list := value.([]any); !list {
			ok = false
		}
		got, err := readData("BYTES", data, len(want))
		if ok != (err == nil) {
			t.Fatalf("read with %v, want %v", err, ok)
		}
		if ok && !slices.Equal(got, want) {
			t.Errorf("read as %v, want %v", got, want)
		}
		for _, rows := range []int{max(0, len(want)-1), len(want) + 1} {
			if _, err := readData("BYTES", data, rows); rows != len(want) && err == nil {
				t.Errorf("%d cells are taken for %d rows", len(want), rows)
			}
		}
	})
}

// Elements are what the data type that their sender declares can be, or are refused with the input's name
// and the type; in JSON, in the fields of gRPC and in the binary format they are the same cells.
func TestElementsOfADataType(t *testing.T) {
	for _, c := range []struct {
		datatype, data string
		cells          []coding.Cell // nil if they are refused
	}{
		{"INT8", `[127, -128, 1.0, null, 1e2]`, []coding.Cell{coding.IntegerCell(127), coding.IntegerCell(-128), coding.IntegerCell(1), {},
			coding.IntegerCell(100)}},
		{"INT8", `[300]`, nil}, {"INT8", `[-129]`, nil}, {"UINT8", `[256]`, nil}, {"UINT8", `[-1]`, nil}, {"INT16", `[32768]`, nil},
		{"UINT16", `[65536]`, nil}, {"INT32", `[2147483648]`, nil}, {"UINT32", `[4294967296]`, nil}, {"INT64", `[69.5]`, nil},
		{"INT64", `[9223372036854775808]`, nil}, {"INT64", `[1e19]`, nil}, {"INT64", `[true]`, nil}, {"INT64", `["69"]`, nil},
		{"INT64", `[9007199254740993]`, []coding.Cell{coding.IntegerCell(9007199254740993)}},
		{"UINT64", `[18446744073709551615]`, []coding.Cell{coding.UnsignedCell(1<<64 - 1)}}, {"UINT64", `[18446744073709551616]`, nil},
		{"FP32", `[0.1, 5]`, []coding.Cell{coding.SingleCell(0.1), coding.SingleCell(5)}}, {"FP32", `[1e39]`, nil}, {"FP32", `["1"]`, nil},
		{"FP64", `[0.1, 5]`, []coding.Cell{coding.NumberCell(0.1), coding.NumberCell(5)}}, {"FP64", `[1e999]`, nil}, {"FP64", `[false]`, nil},
		{"BOOL", `[true, false, null]`, []coding.Cell{coding.TruthCell(true), coding.TruthCell(false), {}}}, {"BOOL", `[1]`, nil},
		{"BYTES", `["a", 12, true]`, []coding.Cell{coding.TextCell("a"), coding.IntegerCell(12), coding.TruthCell(true)}},
	} {
		got, err := readData(c.datatype, []byte(c.data), strings.Count(c.data, ",")+1)
		refused := err != nil && strings.Contains(err.Error(), c.datatype)
		if (c.cells == nil) != refused || c.cells != nil && !slices.Equal(got, c.cells) {
			t.Errorf("%s of %s: %v and error %v", c.data, c.datatype, got, err)
		}
	}
	for _, c := range []struct {
		datatype string
		contents *oip.InferTensorContents
		cell     coding.Cell
		ok       bool
	}{
		{"INT8", &oip.InferTensorContents{IntContents: []int32{-128}}, coding.IntegerCell(-128), true},
		{"INT8", &oip.InferTensorContents{IntContents: []int32{300}}, coding.Cell{}, false},
		{"INT16", &oip.InferTensorContents{IntContents: []int32{-32769}}, coding.Cell{}, false},
		{"INT32", &oip.InferTensorContents{IntContents: []int32{math.MinInt32}}, coding.IntegerCell(math.MinInt32), true},
		{"UINT8", &oip.InferTensorContents{UintContents: []uint32{256}}, coding.Cell{}, false},
		{"UINT32", &oip.InferTensorContents{UintContents: []uint32{math.MaxUint32}}, coding.IntegerCell(math.MaxUint32), true},
		{"FP32", &oip.InferTensorContents{Fp32Contents: []float32{0.1}}, coding.SingleCell(0.1), true},
	} {
		got, err := readContents(c.datatype, c.contents, 1)
		if refused := err != nil && strings.Contains(err.Error(), c.datatype); c.ok == refused || c.ok && got[0] != c.cell {
			t.Errorf("%v of %s: %v and error %v", c.contents, c.datatype, got, err)
		}
	}
}

func flatten(cells []coding.Cell, value any) ([]coding.Cell, bool) {
	switch v := value.(type) {
	case []any:
		for _, x := range v {
			var ok bool
			if cells, ok = flatten(cells, x); !ok {
				return nil, false
			}
		}
		return cells, true
	case nil:
		return append(cells, coding.Cell{}), true
	case bool:
		return append(cells, coding.TruthCell(v)), true
	case string:
		return append(cells, coding.TextCell(v)), true
	case json.Number:
		cell, ok := coding.ParseNumber(v.String())
		return append(cells, cell), ok
	}
	return nil, false
}

func BenchmarkInferOneRow(b *testing.B) {
	s, _ := newServer(b, nil, "v1-votes")
	m := s.models[0].now.Load()
	body, h := bodyOf(b, m, rowsOf(m, 1)), s.Handler()
	b.ReportAllocs()
	for b.Loop() {
		if w := post(b, h, "/v2/models/v1-votes/infer", body); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}

// A date is asked for as text, unless the schema counts days.
func TestDatesAreAskedForAsText(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	m := s.models[0].now.Load().m
	for days, want := range map[bool]string{false: "BYTES", true: "FP64"} {
		for j := range m.Schema.Columns {
			if c := &m.Schema.Columns[j]; c.Kind == schema.Number {
				c.Date, c.Days = "YYYY-MM-DD", days
			}
		}
		served, err := newServed("m", "1", m)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, in := range served.describe().Inputs {
			if c := m.Schema.Columns[m.Schema.Find(in.Name)]; c.Kind == schema.Number {
				n++
				if in.Datatype != want {
					t.Errorf("days %v: %s is asked for as %s", days, in.Name, in.Datatype)
				}
			}
		}
		if n == 0 {
			t.Fatal("no date among the inputs")
		}
	}
}
