// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// diffprivlibLog is the private baseline that the paper names: diffprivlib's
// logistic regression at its defaults, everything private.
const diffprivlibLog = "diffprivlib"

// diffprivlibRuns were measured by lab/peers/diffprivlib (make baseline), which
// writes versions and seeds beside them.
//
//go:embed diffprivlib.jsonl
var diffprivlibRuns []byte

// peerRun is a line of diffprivlibRuns.
type peerRun struct {
	Data     string            `json:"data"`
	Encoding string            `json:"encoding"`
	Epsilon  float64           `json:"epsilon"`
	Values   []float64         `json:"values"` // accuracies, one for each repeat
	Versions map[string]string `json:"versions"`
}

// peerKey says what a run measured.
type peerKey struct {
	data, encoding string
	epsilon        dp.Epsilon
}

var readPeerRuns = sync.OnceValues(func() (map[peerKey][]float64, error) {
	out := map[peerKey][]float64{}
	for dec := json.NewDecoder(bytes.NewReader(diffprivlibRuns)); ; {
		var r peerRun
		if err := dec.Decode(&r); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("shen: records of diffprivlib: %w", err)
		}
		eps, err := dp.EpsilonOf(r.Epsilon)
		if err != nil {
			return nil, fmt.Errorf("shen: records of diffprivlib: %w", err)
		}
		out[peerKey{r.Data, r.Encoding, eps}] = r.Values
	}
})

// readPeer is the recorded accuracy of a repeat: its rows are drawn by the same
// protocol, not the same rows. Further repeats than were recorded have none.
func readPeer(r frame.Repeat, data string, p frame.Point) (frame.Measurement, error) {
	runs, err := readPeerRuns()
	if err != nil {
		return frame.Measurement{}, err
	}
	values, ok := runs[peerKey{data, p.Encoding, p.Epsilon}]
	if !ok {
		return frame.Measurement{}, fmt.Errorf("shen: diffprivlib was not run on %s, %s, at ε = %s", data, p.Encoding,
			p.Epsilon)
	}
	if r.Number >= len(values) {
		return frame.Measurement{Bill: p.Epsilon}, nil
	}
	return frame.Measurement{
		Values: []frame.Value{{Metric: accuracy, Value: values[r.Number]}}, Bill: p.Epsilon,
	}, nil
}
