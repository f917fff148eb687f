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

// Asker answers questions about all rows: with the sum of the answers for its parts. It fails if ctx
// ends.
type Asker interface {
	Ask(ctx context.Context, q *Question) (*Sums, error)
}

// Table implements engine.Table by sending questions to an Asker, by a schema that nobody else holds.
type Table struct {
	whole   *schema.Schema
	schema  *schema.Schema // of a view
	rows    int
	against int
	asker   Asker
	persons engine.Persons
}

var _ engine.Table = (*Table)(nil)

// NewTable returns a table with the given number of rows, whose questions asker answers.
func NewTable(s *schema.Schema, rows int, asker Asker) *Table {
	s = s.Clone()
	return &Table{whole: s, schema: s, rows: rows, against: engine.WholeLabel, asker: asker}
}

func (t *Table) Schema() *schema.Schema { return t.schema.Clone() }
func (t *Table) Rows() int              { return t.rows }

// Persons implements engine.Table: it is nil unless WithPersons set it.
func (t *Table) Persons() engine.Persons { return t.persons }

// WithPersons returns t with p to settle the weights of persons' rows.
func (t *Table) WithPersons(p engine.Persons) *Table {
	out := *t
	out.persons = p
	return &out
}

// Against implements engine.Table. It must not be called on a view.
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

// ask asks a question, and requires the given number of plain sums, or keys if plain < 0.
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
