// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
)

// binaryHeader says how long the JSON before the binary data is.
const binaryHeader = "Inference-Header-Content-Length"

// parameters are those of the binary extension; others are not for this server.
type parameters struct {
	Size         *int  `json:"binary_data_size"`
	Binary       *bool `json:"binary_data"`
	BinaryOutput *bool `json:"binary_data_output"`
}

type restRequest struct {
	ID         string     `json:"id"`
	Parameters parameters `json:"parameters"`
	Inputs     []struct {
		Name       string          `json:"name"`
		Shape      []int64         `json:"shape"`
		Datatype   string          `json:"datatype"`
		Parameters parameters      `json:"parameters"`
		Data       json.RawMessage `json:"data"`
	} `json:"inputs"`
	Outputs []struct {
		Name       string     `json:"name"`
		Parameters parameters `json:"parameters"`
	} `json:"outputs"`
}

// output is an output that was asked for.
type output struct {
	name   string
	binary bool
}

// call is a request whose parts are read, whatever they came in.
type call struct {
	id      string
	inputs  []input
	outputs []output
}

// readRequest reads the body of a request whose JSON has the given length; 0 where
// nothing follows it.
func readRequest(body []byte, header int) (*call, error) {
	raw := []byte(nil)
	if header > 0 {
		if header > len(body) {
			return nil, refuse("%s must be at most the length of the body", binaryHeader)
		}
		body, raw = body[:header], body[header:]
	}
	var r restRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, refuse("the body must be an inference request in JSON")
	}
	c := &call{id: r.ID}
	for k := range r.Inputs {
		in := &r.Inputs[k]
		one := input{name: in.Name, datatype: in.Datatype, shape: in.Shape}
		var err error
		if size := in.Parameters.Size; size != nil {
			if *size < 0 || *size > len(raw) || in.Data != nil {
				return nil, refuse("the binary data of input %d must be in the body, and not in its JSON", k)
			}
			one.cells, err = readBinary(in.Datatype, raw[:*size])
			raw = raw[*size:]
		} else {
			one.cells, err = readData(in.Datatype, in.Data)
		}
		if err != nil {
			return nil, err
		}
		c.inputs = append(c.inputs, one)
	}
	if len(raw) > 0 {
		return nil, refuse("all binary data must be some input's")
	}
	whole := isTrue(r.Parameters.BinaryOutput)
	for _, out := range r.Outputs {
		asked := output{name: out.Name, binary: whole}
		if out.Parameters.Binary != nil {
			asked.binary = *out.Parameters.Binary
		}
		c.outputs = append(c.outputs, asked)
	}
	if len(c.outputs) == 0 {
		c.outputs = []output{{labelOutput, whole}, {scoreOutput, whole}}
	}
	return c, checkOutputs(c.outputs)
}

func isTrue(b *bool) bool { return b != nil && *b }

func checkOutputs(outputs []output) error {
	for k, out := range outputs {
		if !slices.Contains([]string{labelOutput, scoreOutput, contributionsOutput, termsOutput}, out.name) {
			return refuse("output %d must be label, score, contributions or terms", k)
		}
		if slices.ContainsFunc(outputs[:k], func(o output) bool { return o.name == out.name }) {
			return refuse("output %d must not be asked for twice", k)
		}
	}
	return nil
}

// asksFor reports whether an output was asked for.
func (c *call) asksFor(name string) bool {
	return slices.ContainsFunc(c.outputs, func(o output) bool { return o.name == name })
}

// writeAnswer is the body of an answer and the length of the JSON in it; 0 where
// nothing follows it.
func (s *served) writeAnswer(c *call, a *answer) (body []byte, header int) {
	var raw []byte
	b := append([]byte(nil), `{"model_name":`...)
	b = appendQuoted(b, s.name)
	b = append(b, `,"model_version":`...)
	b = appendQuoted(b, s.version)
	if c.id != "" {
		b = append(b, `,"id":`...)
		b = appendQuoted(b, c.id)
	}
	b = append(b, `,"outputs":[`...)
	for k, out := range c.outputs {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":"`...)
		b = append(b, out.name...)
		b = append(b, `","datatype":"`...)
		b = append(b, datatypeOf(out.name)...)
		b = append(b, `","shape":[`...)
		for i, n := range s.shapeOf(out.name, int64(a.rows)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		b = append(b, ']')
		if out.binary {
			from := len(raw)
			raw = s.appendRaw(raw, out.name, a)
			b = append(b, `,"parameters":{"binary_data_size":`...)
			b = strconv.AppendInt(b, int64(len(raw)-from), 10)
			b = append(b, "}}"...)
			continue
		}
		b = append(b, `,"data":[`...)
		switch out.name {
		case labelOutput:
			for r, code := range a.labels {
				if r > 0 {
					b = append(b, ',')
				}
				b = append(b, s.quoted[code]...)
			}
		case termsOutput:
			for k, term := range s.split.terms {
				if k > 0 {
					b = append(b, ',')
				}
				b = appendQuoted(b, term)
			}
		default:
			_, numbers := s.contentsOf(out.name, a)
			for r, x := range numbers {
				if r > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendFloat(b, x, 'g', -1, 64)
			}
		}
		b = append(b, "]}"...)
	}
	b = append(b, "]}"...)
	if raw == nil {
		return b, 0
	}
	return append(b, raw...), len(b)
}

func datatypeOf(output string) string {
	if output == labelOutput || output == termsOutput {
		return "BYTES"
	}
	return "FP64"
}

// shapeOf is the shape of an output about so many rows.
func (s *served) shapeOf(output string, rows int64) []int64 {
	switch output {
	case scoreOutput:
		return []int64{rows, int64(s.scorer.Width())}
	case termsOutput:
		return []int64{int64(len(s.split.terms))}
	case contributionsOutput:
		shape := []int64{rows, int64(len(s.split.terms))}
		if s.split.classes > 1 {
			shape = append(shape, int64(s.split.classes))
		}
		return shape
	}
	return []int64{rows}
}

// contentsOf are an output's texts, or else its numbers.
func (s *served) contentsOf(output string, a *answer) (texts []string, numbers []float64) {
	switch output {
	case scoreOutput:
		return nil, a.scores
	case contributionsOutput:
		return nil, a.parts
	case termsOutput:
		return s.split.terms, nil
	}
	for _, code := range a.labels {
		texts = append(texts, s.classes[code])
	}
	return texts, nil
}

// appendRaw appends an output as the binary extension lays it out.
func (s *served) appendRaw(raw []byte, output string, a *answer) []byte {
	texts, numbers := s.contentsOf(output, a)
	for _, text := range texts {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(text)))
		raw = append(raw, text...)
	}
	return appendDoubles(raw, numbers)
}

func appendQuoted(b []byte, text string) []byte {
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil { // no text is refused
		panic(err)
	}
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// mediaTypes are those of bodies. The last is what curl -d says, whatever the body.
var mediaTypes = []string{"application/json", "application/octet-stream", "application/x-www-form-urlencoded"}

// readBody reads the body of a request within the limit.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		media, _, err := mime.ParseMediaType(kind)
		if err != nil || !slices.Contains(mediaTypes, media) {
			return nil, &problem{http.StatusUnsupportedMediaType,
				errors.New("the body must be application/json or application/octet-stream")}
		}
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, &problem{http.StatusUnsupportedMediaType, errors.New("the body must not be compressed")}
	}
	if r.ContentLength > most {
		return nil, errTooLarge
	}
	size := max(r.ContentLength, 0)
	body := make([]byte, 0, size+512)
	limited := http.MaxBytesReader(w, r.Body, most)
	for {
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		var over *http.MaxBytesError
		switch {
		case err == io.EOF:
			return body, nil
		case errors.As(err, &over):
			return nil, errTooLarge
		case err != nil:
			return nil, refuse("the body must arrive whole")
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
}

// headerLength is what the binary header says; 0 where there is none.
func headerLength(r *http.Request) (int, error) {
	text := r.Header.Get(binaryHeader)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, refuse("%s must be a positive whole number", binaryHeader)
	}
	return n, nil
}

// metadata is what a model takes and gives.
type metadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Platform string           `json:"platform"`
	Inputs   []tensorMetadata `json:"inputs"`
	Outputs  []tensorMetadata `json:"outputs"`
}

type tensorMetadata struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

func (s *served) describe() *metadata {
	out := &metadata{Name: s.name, Versions: []string{s.version}, Platform: platform}
	outputs := []string{labelOutput, scoreOutput}
	if s.split != nil {
		outputs = append(outputs, contributionsOutput, termsOutput)
	}
	for _, name := range outputs {
		out.Outputs = append(out.Outputs, tensorMetadata{name, datatypeOf(name), s.shapeOf(name, -1)})
	}
	for i, name := range s.columns {
		kind := "BYTES"
		if s.numbers[i] {
			kind = "FP64"
		}
		out.Inputs = append(out.Inputs, tensorMetadata{name, kind, []int64{-1, 1}})
	}
	return out
}

const platform = "discreet"
