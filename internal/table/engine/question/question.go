// SPDX-License-Identifier: Apache-2.0

// Package question is the questions of package engine as messages: what is asked and all it
// needs, and answers that are sums of integers over rows. So anyone who holds some of the rows can
// answer for these, and the answers of all are added up.
package question

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Version is the number of this form of questions and answers. Processes with different ones
// refuse each other.
const Version = 5

// Kind names a method of engine.Table.
type Kind string

const (
	Sum      Kind = "sum"
	Mistakes Kind = "mistakes"
	Groups   Kind = "groups"
)

// Question is one question. Fields that its kind does not need are zero; the others are the
// arguments of the method.
type Question struct {
	Kind       Kind
	Against    int                 // the class that Table.Against is asked for, or engine.WholeLabel
	Statistic  engine.Statistic    `json:"-"`
	Space      *feature.Space      `json:",omitempty"`
	Thresholds []feature.Threshold `json:",omitempty"`
	Columns    []int               `json:",omitempty"`
}

// ColumnsRead lists the columns, indices into the schema's, whose codes an answer needs if it is
// known what rows score by the first scored shapes or terms of the question's score; a column more
// than once where several parts of the question need it.
func (q *Question) ColumnsRead(scored int) []int {
	cols := append([]int(nil), q.Columns...)
	if q.Space != nil {
		cols = append(cols, q.Space.Columns...)
	}
	if q.Statistic != nil {
		cols = append(cols, engine.ColumnsRead(q.Statistic, scored)...)
	}
	return cols
}

// Score is what the statistic's rows score, nil if that is not kept.
func (q *Question) Score() engine.Score { return engine.ScoreOf(q.Statistic) }

// AnswerFrom asks t, a table of some of the rows, which is not a view.
func AnswerFrom(ctx context.Context, t engine.Table, q *Question) (*Sums, error) {
	s := t.Schema()
	if q.Against != engine.WholeLabel {
		if q.Against < 0 || q.Against >= s.Classes() {
			return nil, fmt.Errorf("question: there is no class %d among %d", q.Against, s.Classes())
		}
		t = t.Against(q.Against)
	}
	switch q.Kind {
	case Sum:
		sums, err := t.Sum(ctx, q.Statistic)
		return &Sums{Plain: sums}, err
	case Mistakes:
		p, err := t.Mistakes(ctx, q.Space, q.Thresholds)
		if err != nil {
			return nil, err
		}
		return &Sums{Words: p.Words, Counters: 1, Keys: p.Bits, Counts: p.Count}, nil
	case Groups:
		g, err := t.Groups(ctx, q.Columns)
		if err != nil {
			return nil, err
		}
		return sumsOfGroups(g, q.Columns, t.Schema().Classes()), nil
	}
	return nil, fmt.Errorf("question: there is no kind %q", q.Kind)
}

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
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("question: malformed question: %w", err)
	}
	if m.Version != Version {
		return nil, fmt.Errorf("question: question of version %d, this is version %d", m.Version, Version)
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
