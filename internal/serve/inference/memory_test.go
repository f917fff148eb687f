// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

// discard is an answer that no one keeps.
type discard struct {
	header http.Header
	status int
	length int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(status int) {
	if d.status == 0 {
		d.status = status
	}
}
func (d *discard) Write(b []byte) (int, error) {
	d.WriteHeader(200)
	d.length += len(b)
	return len(b), nil
}

// request is one of those that a caller may send.
type request struct {
	what, path string
	header     []string
	body       []byte
	unstated   bool // its length
}

// serve answers the request and returns how many bytes were allocated meanwhile.
func (q *request) serve(t testing.TB, h http.Handler) (answer *discard, allocated int64) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, q.path, bytes.NewReader(q.body))
	if q.unstated {
		r.ContentLength = -1
	}
	for k := 0; k < len(q.header); k += 2 {
		r.Header.Set(q.header[k], q.header[k+1])
	}
	answer = &discard{header: http.Header{}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h.ServeHTTP(answer, r)
	runtime.ReadMemStats(&after)
	return answer, int64(after.TotalAlloc - before.TotalAlloc)
}

// enveloped is a message as gRPC sends it.
func enveloped(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// over is the same message over gRPC and Connect.
func over(what string, message []byte) []request {
	const path = "/" + oip.GRPCInferenceServiceName + "/ModelInfer"
	return []request{
		{what: what + " over gRPC", path: path, header: []string{"Content-Type", "application/grpc"},
			body: enveloped(message), unstated: true},
		{what: what + " over Connect", path: path, header: []string{"Content-Type", "application/proto"}, body: message},
	}
}

// field is a field of a message, with its length.
func field(number protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), inner)
}

// fill repeats a piece up to so many bytes.
func fill(piece string, size int) string { return strings.Repeat(piece, size/len(piece)) }

// hostile are requests of about so many bytes, each full of something that is short and
// becomes long.
func hostile(m *served, size int) (all []request) {
	path := "/v2/models/" + m.name + "/infer"
	first := m.columns[0]
	input := func(more string) string {
		return `{"inputs":[{"name":"` + first + `","datatype":"FP64","shape":[1],` + more + `}]}`
	}
	for what, body := range map[string]string{
		"numbers":         input(`"data":[` + fill("1,", size) + `1]`),
		"texts":           input(`"data":[` + fill(`"",`, size) + `""]`),
		"escaped texts":   input(`"data":[` + fill(`"\u00e9",`, size) + `""]`),
		"a long text":     input(`"data":["` + fill(`\u00e9`, size) + `"]`),
		"lists":           input(`"data":[` + fill("[],", size) + `[]]`),
		"deep lists":      input(`"data":` + fill("[", min(size, 9000)) + fill("]", min(size, 9000))),
		"nulls":           input(`"data":[` + fill("null,", size) + `1]`),
		"data again":      input(`"data":[1],` + fill(`"data":[1,1],`, size) + `"data":[1]`),
		"a long shape":    input(`"shape":[` + fill("1,", size) + `1]`),
		"strange fields":  input(`"x":[` + fill(`{"a":1},`, size) + `1]`),
		"parameters":      input(`"parameters":{` + fill(`"a":1,`, size) + `"b":1}`),
		"names":           input(fill(`"name":"`+first+`",`, size) + `"name":"\n"`),
		"a long name":     input(`"name":"` + fill(`\n`, size) + `"`),
		"inputs":          `{"inputs":[` + fill("{},", size) + `{}]}`,
		"empty inputs":    `{"inputs":[` + fill("null,", size) + `null]}`,
		"inputs again":    `{` + fill(`"inputs":[{}],`, size) + `"inputs":[]}`,
		"outputs":         `{"outputs":[` + fill("{},", size) + `{}],"inputs":[]}`,
		"a long id":       `{"id":"` + fill(`\u003c`, size) + `"}`,
		"no JSON":         fill("{,", size),
		"nothing at all":  fill(" ", size),
		"unfinished text": `{"id":"` + fill("a", size),
	} {
		all = append(all, request{what: what, path: path, body: []byte(body)},
			request{what: what + " of no stated length", path: path, body: []byte(body), unstated: true})
	}
	header := fmt.Sprintf(`{"inputs":[{"name":%q,"datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":%d}}]}`,
		first, size/4*4)
	all = append(all, request{what: "binary texts", path: path, body: append([]byte(header), make([]byte, size/4*4)...),
		header: []string{binaryHeader, fmt.Sprint(len(header))}})

	contents := func(number protowire.Number, packed []byte) []byte {
		name := slices.Concat(field(1, []byte(first)), field(2, []byte("FP64")), field(3, []byte{1}))
		return append(field(1, []byte(m.name)), field(5, append(name, field(5, field(number, packed))...))...)
	}
	many := func(piece []byte) []byte { return bytes.Repeat(piece, size/len(piece)) }
	all = append(all, slices.Concat(
		over("packed truth values", contents(1, many([]byte{1}))),
		over("packed integers", contents(3, many([]byte{1}))),
		over("packed unsigned ones", contents(5, many([]byte{1}))),
		over("packed numbers", contents(7, many(make([]byte, 8)))),
		over("integers one by one", field(5, field(5, many([]byte{3 << 3, 1})))),
		over("empty texts", field(5, field(5, many([]byte{8<<3 | 2, 0})))),
		over("short texts", field(5, field(5, many([]byte{8<<3 | 2, 1, 'a'})))),
		over("a long text", field(5, field(5, field(8, many([]byte{'a'}))))),
		over("contents again", field(5, many([]byte{5<<3 | 2, 0}))),
		over("inputs", many([]byte{5<<3 | 2, 0})),
		over("outputs", many([]byte{6<<3 | 2, 0})),
		over("raw contents", many([]byte{7<<3 | 2, 0})),
		over("a packed shape", field(5, field(3, many([]byte{1})))),
		over("a shape one by one", field(5, many([]byte{3 << 3, 1}))),
		over("parameters", many(field(4, field(1, []byte("a"))))),
		over("parameters of inputs", field(5, many(field(4, field(1, []byte("a")))))),
		over("strange fields", many([]byte{15 << 3, 1})),
		over("names", many(field(1, []byte("a")))),
		over("a group", many([]byte{15<<3 | 3, 15<<3 | 4})),
		over("no message", many([]byte{0xff})),
	)...)
	return all
}

// honest are requests about rows of the model, of all that a request may ask for, as far
// as the model has it.
func honest(t testing.TB, m *served, rows int) (all []request) {
	cells := rowsOf(m, rows)
	path, outputs := "/v2/models/"+m.name+"/infer", `[{"name":"label"},{"name":"score"}]`
	message := &oip.ModelInferRequest{ModelName: m.name}
	names := []string{"label", "score"}
	if m.split != nil {
		outputs = outputs[:len(outputs)-1] + `,{"name":"contributions"},{"name":"terms"}]`
		names = append(names, "contributions", "terms")
	}
	for _, name := range names {
		message.Outputs = append(message.Outputs, &oip.ModelInferRequest_InferRequestedOutputTensor{Name: name})
	}
	for i, name := range m.columns {
		in := &oip.ModelInferRequest_InferInputTensor{Name: name, Datatype: "BYTES", Shape: []int64{int64(rows)},
			Contents: new(oip.InferTensorContents)}
		for r, v := range cells[i] {
			if v == nil {
				cells[i][r] = "?"
				if m.numbers[i] {
					cells[i][r] = m.m.Schema.Columns[slices.Index(m.columns, name)].Lower
				}
			}
			in.Contents.BytesContents = append(in.Contents.BytesContents, textOf(m, cells[i][r]))
		}
		message.Inputs = append(message.Inputs, in)
	}
	header, raw := binaryBody(t, m, cells)
	header = asking(header, outputs)
	wire, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	body := asking(bodyOf(t, m, cells), outputs)
	return append(over("rows", wire), request{what: "rows", path: path, body: body},
		request{what: "rows of no stated length", path: path, body: body, unstated: true},
		request{what: "binary rows", path: path, body: slices.Concat(header, raw),
			header: []string{binaryHeader, fmt.Sprint(len(header))}})
}

// checkShare answers a request and compares what it allocated with what its place was for.
// What is allocated once, and what the runtime and other goroutines of the test allocate
// now and then, is left out by a second try.
func checkShare(t *testing.T, s *Server, q *request) (answer *discard, part float64) {
	t.Helper()
	size := int64(len(q.body))
	if q.unstated && isEnvelopedBody(q) {
		size = max(size, mostAhead)
	} else if q.unstated && size > mostAhead {
		size = s.opts.MaxBody
	}
	_, share := s.places.Share()
	want := min(s.memoryFor(size), share)
	h := s.Handler()
	var allocated int64
	for range 3 {
		answer, allocated = q.serve(t, h)
		if part = float64(allocated) / float64(want); part <= 1 {
			return answer, part
		}
	}
	t.Errorf("%s: %d bytes became %d, of %d; status %d", q.what, len(q.body), allocated, want, answer.status)
	return answer, part
}

func isEnvelopedBody(q *request) bool {
	return slices.Contains(q.header, "application/grpc")
}

// TestRequestsStayWithinTheirShare sends requests that try to become more than the memory
// that their place is for: what is allocated while they are answered, garbage included, is
// less, whatever the protocol.
func TestRequestsStayWithinTheirShare(t *testing.T) {
	s := newSums(t)
	other, _ := newServer(t, nil, "v3-ballots", "v5-derived")
	worst, which := 0.0, ""
	try := func(s *Server, q request, want int) {
		answer, part := checkShare(t, s, &q)
		if part > worst {
			worst, which = part, fmt.Sprintf("%s, %d bytes", q.what, len(q.body))
		}
		grpc := answer.header.Get("Grpc-Status") + answer.header.Get(http.TrailerPrefix+"Grpc-Status")
		if want != 0 && (answer.status != want || grpc != "" && grpc != "0") {
			t.Errorf("%s, %d bytes: status %d, %s", q.what, len(q.body), answer.status, grpc)
		}
	}
	for _, s := range []*Server{s, other} {
		for k, slot := range s.models {
			m := slot.now.Load()
			sizes := []int{100, 10_000, 50_000}
			if k == 0 && s.models[0].name == "v1-votes" {
				sizes = append(sizes, 1_000_000)
			}
			for _, size := range sizes {
				for _, q := range hostile(m, size) {
					try(s, q, 0)
				}
			}
			for _, rows := range []int{1, 30, 1000, 10_000}[:len(sizes)] {
				for _, q := range honest(t, m, rows) {
					try(s, q, 200)
				}
			}
		}
	}
	t.Logf("the worst took %.2f of its share: %s", worst, which)
}

// TestRequestsOfAnyPartsStayWithinTheirShare searches among requests that are put together
// at random from parts of others.
func TestRequestsOfAnyPartsStayWithinTheirShare(t *testing.T) {
	s := newSums(t)
	m := s.models[0].now.Load()
	r := rand.New(rand.NewPCG(7, 24))
	pieces := []string{"1,", `"",`, "[],", "{},", "null,", `"data":[1],`, `"name":"a",`, `"shape":[1],`, `{"a":{}},`,
		`"parameters":{"binary_data":true},`, "1e999,", `"\n",`, `{"name":"label"},`, "[", "]", "{", "}", `"`, "\\"}
	wire := [][]byte{{8<<3 | 2, 0}, {3 << 3, 1}, {5<<3 | 2, 0}, {6<<3 | 2, 2, 1<<3 | 2, 0}, {7<<3 | 2, 0}, {1},
		field(4, field(1, []byte("a"))), {4<<3 | 2, 0}, {7<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0},
		field(5, field(5, []byte{8<<3 | 2, 0}))}
	keys := []string{"data", "shape", "parameters", "name", "x", "datatype"}
	worst := 0.0
	for range 1500 {
		size := 1 << r.IntN(18)
		var q request
		if r.IntN(2) == 0 {
			var b strings.Builder
			for b.Len() < size {
				b.WriteString(fill(pieces[r.IntN(len(pieces))], 1+r.IntN(size)+20))
			}
			body := b.String()
			switch r.IntN(3) {
			case 0:
				body = `{"inputs":[{"` + keys[r.IntN(len(keys))] + `":[` + body + `1]}]}`
			case 1:
				body = `{"` + []string{"inputs", "outputs", "id", "parameters"}[r.IntN(4)] + `":[` + body + `{}]}`
			}
			q = request{what: body[:min(len(body), 80)], path: "/v2/models/" + m.name + "/infer", body: []byte(body),
				unstated: r.IntN(4) == 0}
		} else {
			var b []byte
			for len(b) < size {
				b = append(b, bytes.Repeat(wire[r.IntN(len(wire))], 1+r.IntN(size))...)
			}
			for range r.IntN(3) {
				b = field(protowire.Number(1+r.IntN(8)), b)
			}
			q = over(fmt.Sprintf("%x", b[:min(len(b), 20)]), b)[r.IntN(2)]
		}
		if len(q.body) > int(s.opts.MaxBody) {
			continue
		}
		_, part := checkShare(t, s, &q)
		worst = max(worst, part)
	}
	t.Logf("the worst took %.2f of its share", worst)
}

// TestCompressedBodiesAreRefused: a bomb is not unpacked, whatever the protocol.
func TestCompressedBodiesAreRefused(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	for _, header := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
		for _, path := range []string{"/v2/models/v1-votes/infer", "/" + oip.GRPCInferenceServiceName + "/ModelInfer"} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("body"))
			r.Header.Set(header, "gzip")
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if left, _ := io.ReadAll(r.Body); w.Code != http.StatusUnsupportedMediaType || string(left) != "body" {
				t.Errorf("%s with %s: status %d, %q is left of the body", path, header, w.Code, left)
			}
		}
	}
	for _, kind := range []string{"application/json", "application/grpc+json", "application/connect+proto"} {
		w := post(t, s.Handler(), "/"+oip.GRPCInferenceServiceName+"/ModelInfer", []byte("{}"), "Content-Type", kind)
		if grpc := w.Header().Get("Grpc-Status"); w.Code != http.StatusUnsupportedMediaType && (grpc == "" || grpc == "0") {
			t.Errorf("a call of %s: status %d, %s", kind, w.Code, grpc)
		}
	}
}
