// SPDX-License-Identifier: Apache-2.0

// Package question is the questions of package engine as messages: what is asked and all it
// needs, and answers that are sums of integers over rows. So anyone who holds some of the rows can
// answer for these, and the answers of all are added up.
package question

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
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
