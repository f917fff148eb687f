// SPDX-License-Identifier: Apache-2.0

package question

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// message is a question between processes, in JSON. Numbers keep every bit.
type message struct {
	Version    int                 `json:"version"`
	Kind       Kind                `json:"kind"`
	Against    int                 `json:"against"`
	Space      *spaceMessage       `json:"space,omitempty"`
	Thresholds []feature.Threshold `json:"thresholds,omitempty"`
	Columns    []int               `json:"columns,omitempty"`
	Of         string              `json:"of,omitempty"` // the kind of the statistic
	Statistic  json.RawMessage     `json:"statistic,omitempty"`
}

type spaceMessage struct {
	Encoding feature.Encoding `json:"encoding"`
	Columns  []int            `json:"columns"`
}

// Encode writes q.
func Encode(q *Question) ([]byte, error) {
	m := message{Version: Version, Kind: q.Kind, Against: q.Against, Thresholds: q.Thresholds, Columns: q.Columns}
	if q.Statistic != nil {
		text, err := json.Marshal(q.Statistic.Message())
		if err != nil {
			return nil, err
		}
		m.Of, m.Statistic = q.Statistic.Kind(), text
	}
	if q.Space != nil {
		m.Space = &spaceMessage{q.Space.Encoding, q.Space.Columns}
	}
	return json.Marshal(m)
}

// Decode reads a question about a table of schema s. What no table of s can answer is refused.
func Decode(s *schema.Schema, text []byte) (*Question, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var m message
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("question: malformed question: %w", err)
	}
	if m.Version != Version {
		return nil, fmt.Errorf("question: question of version %d, this is version %d", m.Version, Version)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("question: a question must end after its message")
	}
	if m.Against < engine.WholeLabel || m.Against >= s.Classes() {
		return nil, fmt.Errorf("question: there is no class %d among %d", m.Against, s.Classes())
	}
	q := &Question{Kind: m.Kind, Against: m.Against, Thresholds: m.Thresholds, Columns: m.Columns}
	steps := []func(*Question, *schema.Schema) error{m.readSpace, m.readStatistic}
	for _, read := range steps {
		if err := read(q, s); err != nil {
			return nil, err
		}
	}
	return q, q.checkParts()
}

// checkParts refuses a question that lacks what its kind needs.
func (q *Question) checkParts() error {
	ok := false
	switch q.Kind {
	case Mistakes:
		ok = q.Space != nil && len(q.Thresholds) > 0
	case Groups:
		ok = true
	case Sum:
		ok = q.Statistic != nil
	}
	if !ok {
		return fmt.Errorf("question: a question of kind %q must have its parts", q.Kind)
	}
	return nil
}

func (m *message) readSpace(q *Question, s *schema.Schema) (err error) {
	columns := m.Columns
	if m.Space != nil {
		columns = append(columns[:len(columns):len(columns)], m.Space.Columns...)
	}
	for _, j := range columns {
		if j < 0 || j >= len(s.Columns) || s.Columns[j].Role == schema.Ignored {
			return fmt.Errorf("question: column %d must be among the %d of the schema, and read", j, len(s.Columns))
		}
	}
	if m.Space == nil {
		return nil
	}
	if q.Space, err = feature.NewSpace(s, m.Space.Encoding, m.Space.Columns); err != nil {
		return err
	}
	for k := range m.Thresholds {
		if err := m.Thresholds[k].Check(q.Space); err != nil {
			return err
		}
	}
	return nil
}

func (m *message) readStatistic(q *Question, s *schema.Schema) (err error) {
	if m.Of != "" {
		q.Statistic, err = statistic.Decode(s, m.Of, m.Statistic)
	}
	return err
}
