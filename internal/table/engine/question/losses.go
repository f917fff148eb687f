// SPDX-License-Identifier: Apache-2.0

package question

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// lossMessage is what a question about losses adds to its space.
type lossMessage struct {
	Loss     engine.Loss  `json:"loss"`
	Rows     engine.Rows  `json:"rows"`
	Coef     []float64    `json:"coef"`
	Value    bool         `json:"value,omitempty"`
	Hess     bool         `json:"hess,omitempty"`
	Halvings int          `json:"halvings,omitempty"`
	Cuts     *engine.Cuts `json:"cuts,omitempty"`
}

func encodeLosses(q *Question) *lossMessage {
	l := q.Losses
	m := &lossMessage{Loss: l.Loss, Rows: l.Rows, Coef: l.Coef, Value: l.Value, Hess: l.Hess, Halvings: l.Halvings}
	if q.Kind == Right {
		m.Cuts = &q.Cuts
	}
	return m
}

const maxCuts = 1 << 16

func (m *message) readLosses(q *Question, _ *schema.Schema) error {
	l := m.Losses
	if l == nil {
		return nil
	}
	if q.Space == nil {
		return errors.New("question: a question about losses must have a space")
	}
	if err := engine.CheckLength(q.Space, l.Coef); err != nil {
		return err
	}
	ok := l.Halvings >= 0 && l.Halvings <= engine.MaxHalvings && l.Loss.Huber >= 0
	for _, w := range l.Rows.Weights {
		ok = ok && w >= 0 && w <= 1
	}
	if l.Cuts != nil {
		ok = ok && l.Cuts.Step > 0 && l.Cuts.Count >= 1 && l.Cuts.Count <= maxCuts
		q.Cuts = *l.Cuts
	}
	if !ok {
		return errors.New("question: a question about losses must be of rows, weights and cuts that can be")
	}
	q.Losses = &engine.LossQuestion{Space: q.Space, Loss: l.Loss, Rows: l.Rows, Coef: l.Coef, Value: l.Value,
		Hess: l.Hess, Halvings: l.Halvings}
	return nil
}

func answerExactly(ctx context.Context, t engine.Table, q *Question) (*Sums, error) {
	exact, ok := t.(engine.ExactTable)
	if !ok {
		return nil, fmt.Errorf("question: %q is asked of a table that does not add up exactly", q.Kind)
	}
	var out Sums
	if q.Kind == Right {
		right, err := exact.ExactRight(ctx, q.Space, q.Losses.Coef, q.Cuts)
		for _, n := range right {
			out.Plain = append(out.Plain, uint64(n))
		}
		return &out, err
	}
	s, err := exact.ExactLosses(ctx, q.Losses)
	if err != nil {
		return nil, err
	}
	out.Plain = append(out.Plain, s.Rows)
	out.appendWide(s.Whole, s.Part)
	out.appendWide(s.Grad...)
	out.appendWide(s.Hess...)
	return &out, nil
}

// A wide number is three plain ones, limbBits of it each and the rest: so those of a million
// blocks add up without a carry.
const limbBits = 44

func (s *Sums) appendWide(numbers ...engine.Wide) {
	for _, w := range numbers {
		const limb = 1<<limbBits - 1
		middle := w.Low>>limbBits | uint64(w.High)<<(64-limbBits)
		s.Plain = append(s.Plain, w.Low&limb, middle&limb, uint64(w.High>>(2*limbBits-64)))
	}
}

// cutWide is the first n wide numbers of sums, and the other sums.
func cutWide(sums []uint64, n int) (wide []engine.Wide, rest []uint64) {
	wide = make([]engine.Wide, n)
	for i := range wide {
		wide[i] = engine.Wide{Low: sums[0]}
		wide[i].Add(engine.Wide{High: int64(sums[1] >> (64 - limbBits)), Low: sums[1] << limbBits})
		wide[i].Add(engine.Wide{High: int64(sums[2]) << (2*limbBits - 64)})
		sums = sums[3:]
	}
	return wide, sums
}

// ExactLosses implements engine.ExactTable.
func (t *Table) ExactLosses(ctx context.Context, l *engine.LossQuestion) (*engine.ExactSums, error) {
	if err := t.checkBinary("losses"); err != nil {
		return nil, err
	}
	if err := engine.CheckLength(l.Space, l.Coef); err != nil {
		return nil, err
	}
	dim, hess := len(l.Coef), 0
	if l.Hess {
		hess = dim * (dim + 1) / 2
	}
	out := &engine.ExactSums{}
	if !engine.Bounded(l.Space, l.Coef) { // no message holds such numbers
		out.Grad, out.Hess = make([]engine.Wide, dim), make([]engine.Wide, hess)
		return out, ctx.Err()
	}
	s, err := t.ask(ctx, Question{Kind: Losses, Space: l.Space, Losses: l}, 1+3*(2+dim+hess))
	if err != nil {
		return nil, err
	}
	out.Rows = s.Plain[0]
	values, rest := cutWide(s.Plain[1:], 2)
	out.Whole, out.Part = values[0], values[1]
	out.Grad, rest = cutWide(rest, dim)
	out.Hess, _ = cutWide(rest, hess)
	return out, nil
}

// ExactRight implements engine.ExactTable.
func (t *Table) ExactRight(ctx context.Context, sp *feature.Space, coef []float64, cuts engine.Cuts) ([]int64, error) {
	if err := t.checkBinary("right answers"); err != nil {
		return nil, err
	}
	if err := cuts.Check(sp, coef); err != nil {
		return nil, err
	}
	s, err := t.ask(ctx, Question{Kind: Right, Space: sp, Losses: &engine.LossQuestion{Space: sp, Coef: coef}, Cuts: cuts},
		cuts.Count)
	if err != nil {
		return nil, err
	}
	return signed(s.Plain), nil
}

// LogisticSums implements engine.Table.
func (t *Table) LogisticSums(ctx context.Context, sp *feature.Space, coef []float64) (*engine.LossSums, error) {
	return engine.AskLogistic(ctx, t, sp, coef)
}

// MarginSums implements engine.Table.
func (t *Table) MarginSums(
	ctx context.Context, sp *feature.Space, l engine.Loss, r engine.Rows, coef []float64,
) (*engine.LossSums, error) {
	return engine.AskMargins(ctx, t, sp, l, r, coef)
}

// Margins implements engine.Table.
func (t *Table) Margins(ctx context.Context, sp *feature.Space, r engine.Rows) (engine.Margins, error) {
	return &margins{t, sp, r, 0}, t.checkBinary("margins")
}

// margins asks its table anew about each point.
type margins struct {
	t        *Table
	sp       *feature.Space
	rows     engine.Rows
	halvings int
}

// Sample implements engine.Margins.
func (m *margins) Sample(rows int) engine.Margins {
	part := *m
	part.halvings = engine.HalvingsFor(m.t.rows, rows)
	return &part
}

// Sums implements engine.Margins.
func (m *margins) Sums(ctx context.Context, l engine.Loss, coef []float64, hess bool) (*engine.LossSums, error) {
	return engine.AskLosses(ctx, m.t, &engine.LossQuestion{Space: m.sp, Loss: l, Rows: m.rows, Coef: coef, Hess: hess,
		Halvings: m.halvings})
}

// Right implements engine.Margins, of rows that count once each.
func (m *margins) Right(ctx context.Context, coef []float64, cuts engine.Cuts) ([]float64, error) {
	if m.rows.Weights != nil {
		return nil, errors.New("question: right answers are counted of rows without weights alone")
	}
	right, err := m.t.ExactRight(ctx, m.sp, coef, cuts)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(right))
	for k, n := range right {
		out[k] = float64(n)
	}
	return out, nil
}
