// SPDX-License-Identifier: Apache-2.0

package blocks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// persons are the persons of all rows of a store, counted over all blocks: what a row weighs does
// not depend on the block it lies in (1.2).
type persons struct {
	memory.PersonCounts
	st *Store
}

// view is the same rows, to be asked in another way.
func (p *persons) view(s *schema.Schema) *Store {
	out := &Store{s: s, text: p.st.text, file: p.st.file, most: p.st.most, blocks: map[int]*stored{}}
	for k, b := range p.st.blocks {
		out.blocks[k] = &stored{parsed: b.parsed, at: b.at}
	}
	return out
}

// withoutPersons is the schema of rows that are units of their own.
func (p *persons) withoutPersons() *schema.Schema {
	s := *p.st.s
	s.Person = nil
	return &s
}

// Weigh implements engine.Persons. Memory 4 bytes per person.
func (p *persons) Weigh(most int) engine.Table {
	v := p.view(p.st.s)
	v.weights = p.Weights(most)
	return question.NewTable(v.s, v.Rows(), v).WithPersons(p)
}

// Draw implements engine.Persons: the rows that memory would draw. Memory as of a memory.Drawing,
// and 8 bytes per drawn row afterwards.
func (p *persons) Draw(most int, fill bool, below func(n uint64) uint64) engine.Table {
	v := p.view(p.withoutPersons())
	d, lots, before := memory.NewDrawing(most, fill), memory.NewLots(below), 0
	order := slices.Sorted(maps.Keys(v.blocks))
	for _, k := range order {
		b := v.blocks[k]
		of, err := b.loadPersons(v.readAt(b))
		if err != nil {
			v.failed = fmt.Errorf("blocks: %w", err)
			return v.Table()
		}
		d.Add(&lots, before, of)
		before += b.Rows
	}
	rows, before := d.Rows(), 0
	for _, k := range order {
		b := v.blocks[k]
		n, _ := slices.BinarySearch(rows, before+b.Rows)
		b.drawn = rows[:n:n]
		if b.drawn == nil {
			b.drawn = []int{}
		}
		for i := range b.drawn {
			b.drawn[i] -= before
		}
		rows, before = rows[n:], before+b.Rows
	}
	return v.Table()
}

// Ignore implements engine.Persons.
func (p *persons) Ignore() engine.Table { return p.view(p.withoutPersons()).Table() }
