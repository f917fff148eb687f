// SPDX-License-Identifier: Apache-2.0

package question

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Asker finds the answer to a question about all rows: the sum of the answers about each of
// them. Askers fail when ctx ends.
type Asker interface {
	Ask(ctx context.Context, q *Question) (*Sums, error)
}

// Table asks anyone who holds the rows, and answers as engine.Table does.
type Table struct {
	whole   *schema.Schema
	schema  *schema.Schema // of a view
	rows    int
	against int
	asker   Asker
	persons engine.Persons
}

var _ engine.Table = (*Table)(nil)

// NewTable is a table of so many rows, about which asker is asked.
func NewTable(s *schema.Schema, rows int, asker Asker) *Table {
	return &Table{whole: s, schema: s, rows: rows, against: engine.WholeLabel, asker: asker}
}

func (t *Table) Schema() *schema.Schema { return t.schema }
func (t *Table) Rows() int              { return t.rows }

// Persons implements engine.Table: it is nil if WithPersons named no one.
func (t *Table) Persons() engine.Persons { return t.persons }

// WithPersons is t where p settles what a person's rows count for.
func (t *Table) WithPersons(p engine.Persons) *Table {
	out := *t
	out.persons = p
	return &out
}

// Against implements engine.Table. Of a view it may not be asked.
func (t *Table) Against(class int) engine.Table {
	if t.against != engine.WholeLabel {
		panic("question: Against must be asked of the whole table")
	}
	view := *t
	view.schema, view.against = engine.SchemaAgainst(t.whole, class), class
	return &view
}

func (t *Table) checkBinary(what string) error {
	if n := t.schema.Classes(); n != 2 {
		return fmt.Errorf("question: %s need a label with 2 classes (schema %q has %d)", what, t.schema.Name, n)
	}
	return nil
}

// ask asks, and wants so many plain sums, or keys where plain < 0.
func (t *Table) ask(ctx context.Context, q Question, plain int) (*Sums, error) {
	q.Against = t.against
	s, err := t.asker.Ask(ctx, &q)
	if err != nil {
		return nil, err
	}
	switch {
	case plain < 0 && s == nil:
		return &Sums{Words: 1, Counters: 1}, nil // of no rows
	case s == nil:
		return &Sums{Plain: make([]int64, plain)}, nil
	case plain >= 0 && len(s.Plain) != plain, plain < 0 && s.Words == 0:
		return nil, fmt.Errorf("question: the answer to %q is not of the shape that was asked for", q.Kind)
	}
	return s, nil
}

func (t *Table) Margins(_ context.Context, sp *feature.Space, r engine.Rows) (engine.Margins, error) {
	return solver.NewMargins(t, sp, r), t.checkBinary("margins")
}

func (t *Table) Sum(ctx context.Context, of engine.Statistic) ([]int64, error) {
	size, err := of.Size(engine.NewView(t.whole, t.against))
	if err != nil {
		return nil, err
	}
	s, err := t.ask(ctx, Question{Kind: Sum, Statistic: of}, size)
	if err != nil {
		return nil, err
	}
	return s.Plain, nil
}
