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

// persons are the persons of all rows of a store, counted over all blocks: the weight of a row does
// not depend on its block (1.2).
type persons struct {
	memory.PersonCounts
	st *Store
}

// view returns the same rows for other questions.
func (p *persons) view(s *schema.Schema) *Store {
	return p.st.part(s, slices.Collect(maps.Keys(p.st.blocks)))
}

// part returns the rows of some blocks, under another schema.
func (st *Store) part(s *schema.Schema, ks []int) *Store {
	out := &Store{s: s, text: st.text, file: st.file, most: st.most, whole: st, blocks: map[int]*stored{}}
	for _, k := range ks {
		out.blocks[k] = &stored{parsed: st.blocks[k].parsed, at: st.blocks[k].at}
	}
	return out
}

// PersonsOf returns the persons of the rows of block k.
func (st *Store) PersonsOf(k int) ([]uint32, error) {
	b := st.blocks[k]
	of, err := b.loadPersons(st.readAt(b))
	if err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	return of, nil
}

// Weighed returns the rows of some blocks, weighted by their persons. It must not be used after st is
// closed.
func (st *Store) Weighed(ks []int, byPerson []uint32) *Store {
	v := st.part(st.s, ks)
	v.weights = byPerson
	return v
}

// Counted returns the rows of some blocks: in each the given ones, ascending, or all if drawn is nil.
// Each row has weight one. It must not be used after st is closed.
func (st *Store) Counted(ks []int, drawn [][]int) *Store {
	v := st.part((&persons{st: st}).withoutPersons(), ks)
	for i, rows := range drawn {
		v.blocks[ks[i]].drawn = append([]int{}, rows...)
	}
	return v
}

// withoutPersons returns the schema of rows that are units of their own.
func (p *persons) withoutPersons() *schema.Schema {
	s := *p.st.s
	s.Person = nil
	return &s
}

// Weigh implements engine.Persons. It needs 4 bytes per person.
func (p *persons) Weigh(most int) engine.Table {
	v := p.view(p.st.s)
	v.weights = p.Weights(most)
	return question.NewTable(v.s, v.Rows(), v).WithPersons(p)
}

// Draw implements engine.Persons. It draws the same rows as package memory. It needs as much memory as
// a memory.Drawing, and 8 bytes per drawn row afterwards.
func (p *persons) Draw(most int, fill bool, below func(n uint64) uint64) engine.Table {
	v := p.view(p.withoutPersons())
	d, lots, before := memory.NewDrawing(most, fill), memory.NewLots(below), 0
	order := slices.Sorted(maps.Keys(v.blocks))
	for _, k := range order {
		of, err := v.PersonsOf(k)
		if err != nil {
			v.failed = err
			return v.Table()
		}
		d.Add(&lots, before, of)
		before += len(of)
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
