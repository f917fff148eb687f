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
	Version int
	Question
	Of   string          // the kind of the statistic; "" for none
	Text json.RawMessage `json:",omitempty"` // the statistic
}

// Encode writes q.
func Encode(q *Question) (text []byte, err error) {
	m := message{Version: Version, Question: *q}
	if q.Statistic != nil {
		if m.Of, m.Text, err = statistic.Encode(q.Statistic); err != nil {
			return nil, err
		}
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
	q := &m.Question
	if q.Against < engine.WholeLabel || q.Against >= s.Classes() {
		return nil, fmt.Errorf("question: there is no class %d among %d", q.Against, s.Classes())
	}
	if m.Of != "" {
		var err error
		if q.Statistic, err = statistic.Decode(s, m.Of, m.Text); err != nil {
			return nil, err
		}
	}
	return q, q.check(s)
}

// check refuses a question that lacks what its kind needs, or that no table of s can answer.
func (q *Question) check(s *schema.Schema) error {
	ok := q.Kind == Groups || q.Kind == Mistakes && q.Space != nil && len(q.Thresholds) > 0 ||
		q.Kind == Sum && q.Statistic != nil
	if !ok {
		return fmt.Errorf("question: a question of kind %q must have its parts", q.Kind)
	}
	if q.Space == nil {
		return feature.CheckColumns(s, q.Columns)
	}
	if err := q.Space.Complete(s); err != nil {
		return err
	}
	for k := range q.Thresholds {
		if err := q.Thresholds[k].Check(q.Space); err != nil {
			return err
		}
	}
	return feature.CheckColumns(s, q.Columns)
}
