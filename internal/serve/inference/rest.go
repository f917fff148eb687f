// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// binaryHeader gives the length of the JSON before the binary data.
const binaryHeader = "Inference-Header-Content-Length"

// parameters are those of the binary extension; others are ignored.
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
		Shape      tensorShape     `json:"shape"`
		Datatype   string          `json:"datatype"`
		Parameters parameters      `json:"parameters"`
		Data       json.RawMessage `json:"data"`
	} `json:"inputs"`
	Outputs []struct {
		Name       string     `json:"name"`
		Parameters parameters `json:"parameters"`
	} `json:"outputs"`
}

// output is a requested output.
type output struct {
	name   string
	binary bool
}

// call is a parsed request, from any protocol.
type call struct {
	id      string
	size    int64 // of the request, in bytes
	inputs  []input
	outputs []output
}

// tensorShape is the shape of an input; a shape longer than permitted is truncated.
type tensorShape []int64

// UnmarshalJSON implements json.Unmarshaler.
func (s *tensorShape) UnmarshalJSON(b []byte) error {
	if bytes.Count(b, []byte{','}) > 1 {
		*s = nil
		return nil
	}
	return json.Unmarshal(b, (*[]int64)(s))
}

// readRequest parses the body of a request. header is the length of its JSON, 0 if nothing follows the
// JSON. most limits its cells and parts.
func readRequest(body []byte, header int, most shape) (*call, error) {
	c, raw := &call{size: int64(len(body))}, []byte(nil)
	if header > 0 {
		if header > len(body) {
			return nil, refuse("%s must be at most the length of the body", binaryHeader)
		}
		body, raw = body[:header], body[header:]
	}
	if err := most.checkJSON(body); err != nil {
		return nil, err
	}
	var r restRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, refuse("the body must be an inference request in JSON")
	}
	c.id = r.ID
	for k := range r.Inputs {
		in := &r.Inputs[k]
		one := input{name: in.Name, shape: in.Shape}
		if size := in.Parameters.Size; size != nil {
			if *size < 0 || *size > len(raw) || in.Data != nil {
				return nil, refuse("the binary data of input %d must be in the body, and not in its JSON", k)
			}
			data := raw[:*size]
			one.cells = func(rows int) ([]coding.Cell, error) { return readBinary(in.Datatype, data, rows) }
			raw = raw[*size:]
		} else {
			one.cells = func(rows int) ([]coding.Cell, error) { return readData(in.Datatype, in.Data, rows) }
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

// asksFor reports whether an output was requested.
func (c *call) asksFor(name string) bool {
	return slices.ContainsFunc(c.outputs, func(o output) bool { return o.name == name })
}

// writeAnswer returns the body of an answer: JSON, and the binary data after it; nil if there are
// none.
func (s *served) writeAnswer(c *call, a *answer) (body, raw []byte) {
	text, binaries := s.answerLength(c, a)
	if binaries > 0 {
		raw = make([]byte, 0, binaries)
	}
	b := append(make([]byte, 0, text), `{"model_name":`...)
	b = appendQuoted(b, s.name)
	b = append(b, `,"model_version":`...)
	b = appendQuoted(b, s.version)
	if c.id != "" {
		b = append(b, `,"id":`...)
		b = appendQuoted(b, c.id)
	}
	before := `,"parameters":{`
	for key, n := range coding.Numbers(a.undeclared) {
		b = append(b, before...)
		b = appendQuoted(b, key)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(n), 10)
		before = ","
	}
	if len(a.undeclared) > 0 {
		b = append(b, '}')
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
	return append(b, "]}"...), raw
}

// answerLength returns the largest lengths of an answer's JSON and of the binary data after it.
func (s *served) answerLength(c *call, a *answer) (text, raw int) {
	const number, frame = 25, 256 // a number's longest text, and what stands around an output
	text = frame + 6*(len(s.name)+len(s.version)+len(c.id))
	for key := range coding.Numbers(a.undeclared) {
		text += number + 6*len(key)
	}
	for _, out := range c.outputs {
		var t, b int
		switch out.name {
		case labelOutput:
			for _, code := range a.labels {
				t, b = t+len(s.quoted[code])+1, b+len(s.classes[code])+4
			}
		case termsOutput:
			for _, term := range s.split.terms {
				t, b = t+6*len(term)+3, b+len(term)+4
			}
		case scoreOutput:
			t, b = number*len(a.scores), 8*len(a.scores)
		case contributionsOutput:
			t, b = number*len(a.parts), 8*len(a.parts)
		}
		text += frame
		if out.binary {
			raw += b
		} else {
			text += t
		}
	}
	return text, raw
}

func datatypeOf(output string) string {
	if output == labelOutput || output == termsOutput {
		return "BYTES"
	}
	return "FP64"
}

// shapeOf returns the shape of an output for this number of rows.
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

// contentsOf returns an output's texts or its numbers.
func (s *served) contentsOf(output string, a *answer) (texts []string, numbers []float64) {
	switch output {
	case scoreOutput:
		return nil, a.scores
	case contributionsOutput:
		return nil, a.parts
	case termsOutput:
		return s.split.terms, nil
	}
	texts = make([]string, len(a.labels))
	for r, code := range a.labels {
		texts[r] = s.classes[code]
	}
	return texts, nil
}

// appendRaw appends an output in the format of the binary extension.
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

// readBody reads the body of a request within the limit.
func readBody(r *http.Request, most int64) ([]byte, error) {
	size := r.ContentLength
	if size < 0 {
		size = most
	}
	body := make([]byte, size+1) // a byte more, to see the end
	n, err := io.ReadFull(r.Body, body)
	switch {
	case err == nil:
		return nil, errTooLarge
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && (r.ContentLength < 0 || n == len(body)-1):
		return body[:n], nil
	}
	return nil, bodyProblem(err)
}

// headerLength returns the value of the binary header; 0 if there is none.
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

// metadata describes a model's inputs and outputs.
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
