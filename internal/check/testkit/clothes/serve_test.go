// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/serve/inference"
	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

func servedForms() []form {
	var tensors []Type
	for _, t := range Types()[1:] {
		if t.Form != coding.Decimal && t.Form != coding.Day && t.Form != coding.Instant {
			tensors = append(tensors, t)
		}
	}
	empty := func(t Type) bool { return t.Form == coding.Text || t.Form == coding.Float || t.Form == coding.Single }
	return []form{
		{name: "JSON of a request", offered: tensors, score: func(k *kit, t *Table, m *model.Model) ([]float64, error) {
			var inputs []map[string]any
			for _, c := range tensorsOf(k, t, m) {
				for r := range c.cells {
					c.cells[r] = inJSON(c.cells[r])
				}
				inputs = append(inputs, map[string]any{"name": c.name, "datatype": c.datatype, "shape": []int{len(t.Rows), 1}, "data": c.cells})
			}
			body, err := json.Marshal(map[string]any{"inputs": inputs})
			k.must(err)
			return infer(k, m, body, 0)
		}},
		{name: "binary tensors of a request", offered: tensors, nulls: empty, score: func(k *kit, t *Table, m *model.Model) ([]float64, error) {
			var inputs []map[string]any
			var all []byte
			for _, c := range tensorsOf(k, t, m) {
				raw := c.raw()
				all = append(all, raw...)
				inputs = append(inputs, map[string]any{"name": c.name, "datatype": c.datatype, "shape": []int{len(t.Rows), 1},
					"parameters": map[string]int{"binary_data_size": len(raw)}})
			}
			body, err := json.Marshal(map[string]any{"inputs": inputs})
			k.must(err)
			return infer(k, m, append(body, all...), len(body))
		}},
		{name: "gRPC", offered: tensors, nulls: empty, score: func(k *kit, t *Table, m *model.Model) ([]float64, error) {
			protocols := new(http.Protocols)
			protocols.SetUnencryptedHTTP2(true)
			server := httptest.NewUnstartedServer(serverOf(k, m).Handler())
			server.Config.Protocols = protocols
			server.Start()
			defer server.Close()
			transport := &http.Transport{Protocols: protocols}
			defer transport.CloseIdleConnections()
			client := oip.NewGRPCInferenceServiceClient(&http.Client{Transport: transport}, server.URL, connect.WithGRPC())
			r, raw := &oip.ModelInferRequest{ModelName: "m"}, k.src.IntN(2) == 0
			for _, c := range tensorsOf(k, t, m) {
				in := &oip.ModelInferRequest_InferInputTensor{Name: c.name, Datatype: c.datatype, Shape: []int64{int64(len(t.Rows)), 1}}
				if raw {
					r.RawInputContents = append(r.RawInputContents, c.raw())
				} else {
					in.Contents = c.contents()
				}
				r.Inputs = append(r.Inputs, in)
			}
			answer, err := client.ModelInfer(k.Context(), connect.NewRequest(r))
			if err != nil {
				return nil, err
			}
			if !raw {
				return answer.Msg.GetOutputs()[1].GetContents().GetFp64Contents(), nil
			}
			scores := make([]float64, len(t.Rows))
			return scores, binary.Read(bytes.NewReader(answer.Msg.GetRawOutputContents()[1]), binary.LittleEndian, scores)
		}},
	}
}

// tensor is an input of a request.
type tensor struct {
	name, datatype string
	cells          []any
}

func tensorsOf(k *kit, t *Table, m *model.Model) (list []tensor) {
	for j, c := range t.Columns {
		if m.Schema.Find(c.Name) < 0 || c.Kind == Person || c.Kind == Ignored {
			continue
		}
		of := t.Types[j]
		one := tensor{name: c.Name, datatype: map[coding.Form]string{coding.Text: "BYTES", coding.Float: "FP64", coding.Single: "FP32", coding.Truth: "BOOL"}[of.Form]}
		if of.Form == coding.Integer {
			one.datatype = fmt.Sprintf("INT%d", of.Bits)
			if of.Unsigned {
				one.datatype = "U" + one.datatype
			}
		}
		for r := range t.Rows {
			one.cells = append(one.cells, t.Values[r][j])
		}
		list = append(list, one)
	}
	return list
}

// raw is an input in the binary extension. A missing number is NaN.
func (c *tensor) raw() (b []byte) {
	for _, v := range c.cells {
		switch v := v.(type) {
		case string:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
		case bool:
			b = append(b, map[bool]byte{true: 1}[v])
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		case int64:
			b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(v))[:c.bytes()]...)
		case uint64:
			b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:c.bytes()]...)
		case nil:
			switch c.datatype {
			case "FP64":
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(math.NaN()))
			case "FP32":
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(math.NaN())))
			default:
				b = append(b, 0, 0, 0, 0)
			}
		}
	}
	return b
}

func (c *tensor) bytes() int {
	bits := 0
	fmt.Sscanf(strings.TrimLeft(c.datatype, "UINT"), "%d", &bits)
	return bits / 8
}

func (c *tensor) contents() *oip.InferTensorContents {
	out := new(oip.InferTensorContents)
	for _, v := range c.cells {
		switch v := v.(type) {
		case bool:
			out.BoolContents = append(out.BoolContents, v)
		case int64:
			if c.bytes() == 8 {
				out.Int64Contents = append(out.Int64Contents, v)
			} else {
				out.IntContents = append(out.IntContents, int32(v))
			}
		case uint64:
			if c.bytes() == 8 {
				out.Uint64Contents = append(out.Uint64Contents, v)
			} else {
				out.UintContents = append(out.UintContents, uint32(v))
			}
		case float32:
			out.Fp32Contents = append(out.Fp32Contents, v)
		case float64:
			out.Fp64Contents = append(out.Fp64Contents, v)
		default:
			switch text, _ := v.(string); c.datatype {
			case "FP64":
				out.Fp64Contents = append(out.Fp64Contents, math.NaN())
			case "FP32":
				out.Fp32Contents = append(out.Fp32Contents, float32(math.NaN()))
			default:
				out.BytesContents = append(out.BytesContents, []byte(text))
			}
		}
	}
	return out
}

// serverOf serves a model under the name m.
func serverOf(k *kit, m *model.Model) *inference.Server {
	file, err := model.Marshal(m)
	k.must(err)
	o := inference.DefaultOptions()
	o.Log, o.Models = slog.New(slog.DiscardHandler), []string{"m=" + k.put("m.json", file)}
	o.Clock = func() time.Time { return time.Unix(0, 0) }
	s, err := inference.New(o)
	k.must(err)
	return s
}

// infer asks a server for scores; header is the length of the JSON before binary data, 0 if there is none.
func infer(k *kit, m *model.Model, body []byte, header int) ([]float64, error) {
	r := httptest.NewRequestWithContext(k.Context(), "POST", "/v2/models/m/infer", bytes.NewReader(body))
	if header > 0 {
		r.Header.Set("Inference-Header-Content-Length", fmt.Sprint(header))
	}
	w := httptest.NewRecorder()
	serverOf(k, m).Handler().ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	k.must(err)
	var answer struct {
		Outputs []struct {
			Name string
			Data json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Outputs) < 2 {
		return nil, fmt.Errorf("%s", text)
	}
	var scores []float64
	err = json.Unmarshal(answer.Outputs[1].Data, &scores)
	return scores, err
}
