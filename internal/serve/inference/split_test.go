// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"encoding/json"
	"math"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

// asking is body with outputs that are asked for.
func asking(body []byte, outputs string) []byte {
	return append([]byte(`{"outputs":`+outputs+`,`), body[1:]...)
}

// newSums serves sums of step functions, of a label of two classes and of one of three.
func newSums(t *testing.T) *Server {
	t.Helper()
	s, _ := newServer(t, nil, "v1-votes", "v3-ballots")
	two := []model.Shape{
		{Column: "age", Edges: []float64{30, 60}, LogOdds: []float64{-1, 0.25, 1.0 / 3}},
		{Column: "ward", LogOdds: []float64{0.1, 0.2, -0.3, 0.4}},
		{Column: "smoker", LogOdds: []float64{1, -1, 0.5, 0}},
	}
	three := []model.ClassShape{
		{Column: "age", Edges: []float64{40}, LogShares: [][]float64{{-1, 0.25}, {0.3, 0}, {0, 0.7}}},
		{Column: "ward", LogShares: [][]float64{{0.1, 0.2, -0.3, 0.4}, {0, 0, 1, 0}, {0.5, -0.5, 0, 0}}},
	}
	for k := range two {
		two[k].Noise = make([]float64, len(two[k].LogOdds))
	}
	for k := range three {
		for range 3 {
			three[k].Noise = append(three[k].Noise, make([]float64, len(three[k].LogShares[0])))
		}
	}
	for k, c := range []model.Classifier{&model.Additive{Intercept: -0.75, Shapes: two},
		&model.MulticlassAdditive{Intercepts: []float64{0.2, 0, -0.4}, Shapes: three}} {
		slot := s.models[k]
		m := *slot.now.Load().m
		m.Classifier, m.Spaces = c, nil
		next, err := newServed(slot.name, "sums", &m)
		if err != nil {
			t.Fatal(err)
		}
		slot.now.Store(next)
	}
	return s
}

// What columns add, asked for over HTTP and gRPC: two rows' contributions differ by what the logits
// of their scores do, or the logarithms beyond their mean, which are computed without them.
func TestContributionsAddUpToScores(t *testing.T) {
	s := newSums(t)
	for _, slot := range s.models {
		m := slot.now.Load()
		const rows = 40
		width := m.scorer.Width()
		cells := rowsOf(m, rows)
		path := "/v2/models/" + m.name + "/infer"
		w := post(t, s.Handler(), path, asking(bodyOf(t, m, cells), `[{"name":"terms"},{"name":"contributions"}]`))
		var answer struct {
			Outputs []struct {
				Name, Datatype string
				Shape          []int
				Data           json.RawMessage
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s: %v", m.name, w.Code, w.Body, err)
		}
		var terms []string
		var parts []float64
		if json.Unmarshal(answer.Outputs[0].Data, &terms) != nil ||
			json.Unmarshal(answer.Outputs[1].Data, &parts) != nil {
			t.Fatalf("%s: outputs cannot be read", m.name)
		}
		if shape := answer.Outputs[1].Shape; len(terms) < 2 || shape[0] != rows || shape[1] != len(terms) ||
			width > 1 && shape[2] != width || len(parts) != rows*len(terms)*width ||
			answer.Outputs[0].Shape[0] != len(terms) {
			t.Fatalf("%s: %d terms and %d contributions of shape %v", m.name, len(terms), len(parts), shape)
		}
		scores, _, _ := naiveScores(t, m, cells)
		logit := func(r, class int) float64 {
			if width == 1 {
				return math.Log(scores[r] / (1 - scores[r]))
			}
			mean := 0.0
			for _, x := range scores[r*width:][:width] {
				mean += math.Log(x) / float64(width)
			}
			return math.Log(scores[r*width+class]) - mean
		}
		sum := func(r, class int) (all float64) {
			for k := range terms {
				all += parts[(r*len(terms)+k)*width+class]
			}
			return all
		}
		different := 0
		for r := 1; r < rows; r++ {
			for class := range width {
				got, want := sum(r, class)-sum(0, class), logit(r, class)-logit(0, class)
				if math.Abs(got-want) > 1e-6 {
					t.Errorf("%s: row %d, class %d: contributions say %g more than row 0's, scores %g", m.name, r, class,
						got, want)
				}
			}
			if sum(r, 0) != sum(0, 0) {
				different++
			}
		}
		if different < rows/4 {
			t.Errorf("%s: only %d rows differ from the first", m.name, different)
		}
		asked := &oip.ModelInferRequest{ModelName: m.name,
			Outputs: []*oip.ModelInferRequest_InferRequestedOutputTensor{{Name: "contributions"}}}
		for i, name := range m.columns {
			in := &oip.ModelInferRequest_InferInputTensor{Name: name, Datatype: "BYTES", Shape: []int64{rows},
				Contents: new(oip.InferTensorContents)}
			for _, v := range cells[i] {
				in.Contents.BytesContents = append(in.Contents.BytesContents, textOf(m, v))
			}
			asked.Inputs = append(asked.Inputs, in)
		}
		got, err := calls{s}.ModelInfer(t.Context(), connect.NewRequest(asked))
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range got.Msg.GetOutputs()[0].GetContents().GetFp64Contents() {
			if x != parts[k] {
				t.Fatalf("%s: gRPC says %g, HTTP %g", m.name, x, parts[k])
			}
		}
	}
}

// textOf is a cell as text; a missing one is the schema's sign for that.
func textOf(m *served, v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case float64:
		text, _ := json.Marshal(v) // a finite number has a text
		return text
	}
	return []byte(m.m.Schema.Dialect.Missing[0])
}

// A model whose scores are no sums over columns says so, and lists no such outputs.
func TestContributionsOfOtherModelsAreRefused(t *testing.T) {
	s, _ := newServer(t, nil, "v1-votes")
	votes := s.models[0].now.Load()
	for _, name := range []string{"contributions", "terms"} {
		w := post(t, s.Handler(), "/v2/models/v1-votes/infer", asking(bodyOf(t, votes, rowsOf(votes, 2)),
			`[{"name":"`+name+`"}]`))
		if w.Code != 400 {
			t.Errorf("%s of votes: %d %s", name, w.Code, w.Body)
		}
	}
	for m, want := range map[*served]int{votes: 2, newSums(t).models[0].now.Load(): 4} {
		if got := m.describe().Outputs; len(got) != want {
			t.Errorf("%d outputs, want %d: %v", len(got), want, got)
		}
	}
}
