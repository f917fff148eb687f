// SPDX-License-Identifier: Apache-2.0

package question

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
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

func (t *Table) Mistakes(
	ctx context.Context, sp *feature.Space, cs []feature.Threshold,
) (*engine.Patterns, error) {
	if err := t.checkBinary("mistakes of thresholds"); err != nil {
		return nil, err
	}
	s, err := t.ask(ctx, Question{Kind: Mistakes, Space: sp, Thresholds: cs}, -1)
	if err != nil {
		return nil, err
	}
	return &engine.Patterns{Words: (len(cs) + 63) / 64, Bits: s.Keys, Count: s.Counts}, nil
}

func (t *Table) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	g := &engine.Groups{Cols: make([]column.Column, len(t.schema.Columns)),
		Counts: make([][]uint64, t.schema.Classes())}
	s, err := t.ask(ctx, Question{Kind: Groups, Columns: cols}, -1)
	if err != nil {
		return nil, err
	}
	g.Len = s.Len()
	codes, values, sizes := t.codeKeys(s, cols)
	order := orderOfGroups(codes, sizes, g.Len)
	for k, j := range cols {
		sorted := make([]uint32, g.Len)
		for i, at := range order {
			sorted[i] = codes[k][at]
		}
		g.Cols[j] = column.Column{Codes: column.Narrow(sorted, sizes[k]), Values: values[k]}
		if c := &t.schema.Columns[j]; c.Marks() > 0 {
			g.Cols[j].TakeMarks(c.Clamp(*c.Default))
		}
	}
	for class := range g.Counts {
		g.Counts[class] = make([]uint64, g.Len)
		for i, at := range order {
			g.Counts[class][i] = s.countsAt(at)[class]
		}
	}
	return g, nil
}

// codeKeys turns keys back into codes of columns, numbers' into those of a dictionary of all.
func (t *Table) codeKeys(s *Sums, cols []int) (codes [][]uint32, values [][]float64, sizes []int) {
	for k, j := range cols {
		words := make([]uint64, s.Len())
		for i := range words {
			words[i] = s.keyAt(i)[k]
		}
		own, size := make([]uint32, len(words)), t.schema.Columns[j].Codes()
		var dictionary []float64
		if t.schema.Columns[j].Kind == schema.Category {
			for i, w := range words {
				own[i] = uint32(w)
			}
		} else {
			distinct := slices.Compact(slices.Sorted(slices.Values(words)))
			size = len(distinct)
			for i, w := range words {
				at, _ := slices.BinarySearch(distinct, w)
				own[i] = uint32(at)
			}
			for _, w := range distinct {
				dictionary = append(dictionary, fromOrdered(w))
			}
		}
		codes, values, sizes = append(codes, own), append(values, dictionary), append(sizes, size)
	}
	return codes, values, sizes
}

// orderOfGroups is the order of groups by their packed keys.
func orderOfGroups(codes [][]uint32, sizes []int, n int) []int {
	fields, keyBits := engine.PackKeys(sizes)
	words := (keyBits + 63) / 64
	keys, order := make([]uint64, n*words), make([]int, n)
	for i := range order {
		order[i] = i
		for k, f := range fields {
			keys[i*words+f.Word] |= uint64(codes[k][i]) << f.Shift
		}
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(keys[a*words:][:words], keys[b*words:][:words]) })
	return order
}
