// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// persons are the persons of a table's rows. They are counted in the rows that the engine was
// given, so after whatever chose those: a weight never depends on a row that is not here.
type persons struct {
	t     *Table
	of    []uint32 // by row
	rows  []uint32 // by person
	count int
}

// newPersons counts the persons of a table, which must know whose its rows are (1.2).
func newPersons(m *Table) (*persons, error) {
	s := m.t.Schema
	if m.t.Persons == nil {
		return nil, fmt.Errorf("memory: the table was read without column %q, which tells persons apart", s.Person.Column)
	}
	p := &persons{t: m, of: m.t.Persons}
	p.rows, p.count = m.t.CountPersons()
	return p, nil
}

// Persons implements engine.Table.
func (m *Table) Persons() engine.Persons {
	if m.persons == nil {
		return nil
	}
	return m.persons
}

// Count implements engine.Persons.
func (p *persons) Count() int { return p.count }

// CountAbove implements engine.Persons.
func (p *persons) CountAbove(bounds []int) []uint64 {
	out := make([]uint64, len(bounds))
	for person, rows := range p.rows {
		for i, b := range bounds {
			if person != dataset.Nobody && int(rows) > b {
				out[i]++
			}
		}
	}
	return out
}

// Weigh implements engine.Persons. Memory 4 bytes per row.
func (p *persons) Weigh(most int) engine.Table {
	byPerson := make([]uint32, len(p.rows))
	for person, rows := range p.rows {
		if person != dataset.Nobody {
			byPerson[person] = engine.PersonWeight(most, int(rows))
		}
	}
	m := newTable(p.t.t)
	m.persons, m.weights = p, make([]uint32, len(p.of))
	for i, person := range p.of {
		m.weights[i] = byPerson[person]
	}
	return m
}

// Draw implements engine.Persons. All rows are shuffled, and the first few of each person stay: the
// law of what stays depends neither on the order of the rows nor on any identifier.
func (p *persons) Draw(most int, fill bool, below func(n uint64) uint64) engine.Table {
	order := make([]int, len(p.of))
	for i := range order {
		order[i] = i
	}
	for i := len(order) - 1; i > 0; i-- {
		j := int(below(uint64(i + 1)))
		order[i], order[j] = order[j], order[i]
	}
	taken := make([]int, len(p.rows))
	var rows []int
	take := func() (any bool) {
		for _, i := range order {
			person := p.of[i]
			if person == dataset.Nobody || taken[person] >= most {
				continue
			}
			taken[person]++
			rows, any = append(rows, i), true
		}
		return any
	}
	for take() {
		if !fill {
			break
		}
	}
	slices.Sort(rows)
	return p.withoutPersons(p.t.t.Subset(rows))
}

// Ignore implements engine.Persons.
func (p *persons) Ignore() engine.Table {
	t := *p.t.t
	t.Cols = slices.Clone(t.Cols)
	return p.withoutPersons(&t)
}

// withoutPersons makes a table of t, a copy, in which each row is a unit of its own.
func (p *persons) withoutPersons(t *dataset.Table) engine.Table {
	s := *t.Schema
	s.Person = nil
	t.Schema, t.Persons = &s, nil
	t.Forget()
	return newTable(t)
}

// checkPersons refuses questions before persons were settled; counted says that the question counts
// every row once, which a table with weights does not.
func (m *Table) checkPersons(what string, counted bool) error {
	switch {
	case m.persons == nil:
		return nil
	case m.weights == nil:
		return fmt.Errorf("memory: %s cannot be asked before it is settled what a person's rows count for", what)
	case counted:
		return fmt.Errorf("memory: %s count every row once, and these rows weigh what their persons allow", what)
	}
	return nil
}
