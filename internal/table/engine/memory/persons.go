// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// persons are the persons of a table's rows. They are counted in the rows that the engine has, after
// any selection, so that a weight never depends on other rows.
type persons struct {
	PersonCounts
	t  *Table
	of []uint32 // by row
}

// PersonCounts is the number of rows of each person, by the person's number.
type PersonCounts []uint32

// newPersons counts the persons of a table, which must have them (1.2).
func newPersons(m *Table) (*persons, error) {
	s := m.whole
	if m.t.Persons == nil {
		return nil, fmt.Errorf("memory: the table was read without column %q, which identifies persons", s.Person.Column)
	}
	p := &persons{t: m, of: m.t.Persons}
	p.PersonCounts, _ = m.t.CountPersons()
	return p, nil
}

// Persons implements engine.Table.
func (m *Table) Persons() engine.Persons {
	if m.persons == nil {
		return nil
	}
	return m.persons
}

// Add counts rows; of holds their persons.
func (c *PersonCounts) Add(of []uint32) {
	for _, person := range of {
		if n := int(person) + 1 - len(*c); n > 0 {
			*c = append(*c, make([]uint32, n)...)
		}
		(*c)[person]++
	}
}

// Count implements engine.Persons.
func (c PersonCounts) Count() (persons int) {
	for person, rows := range c {
		if person != dataset.Nobody && rows > 0 {
			persons++
		}
	}
	return persons
}

// Weights returns the weight of a row of each person, by the person's number, for a contribution bound
// of most rows.
func (c PersonCounts) Weights(most int) []uint32 {
	out := make([]uint32, len(c))
	for person, rows := range c {
		if person != dataset.Nobody {
			out[person] = engine.PersonWeight(most, int(rows))
		}
	}
	return out
}

// Weigh implements engine.Persons. It needs 4 bytes per row.
func (p *persons) Weigh(most int) engine.Table {
	m := newWeighed(p.t.t, p.t.whole, p.Weights(most))
	m.persons = p
	return m
}

// NewWeighed returns a table whose rows have the weights of PersonCounts.Weights. If t is part of a
// table, the weights may depend on other rows of it.
func NewWeighed(t *dataset.Table, byPerson []uint32) *Table {
	return newWeighed(t, t.Schema.Clone(), byPerson)
}

func newWeighed(t *dataset.Table, s *schema.Schema, byPerson []uint32) *Table {
	m := newTable(t, s)
	m.weights = make([]uint32, len(t.Persons))
	for i, person := range t.Persons {
		m.weights[i] = byPerson[person]
	}
	return m
}

// Draw implements engine.Persons.
func (p *persons) Draw(most int, fill bool, below func(n uint64) uint64) engine.Table {
	d, lots := NewDrawing(most, fill), NewLots(below)
	d.Add(&lots, 0, p.of)
	return p.withoutPersons(p.t.t.Subset(d.Rows()))
}

// Ignore implements engine.Persons.
func (p *persons) Ignore() engine.Table {
	t := *p.t.t
	t.Cols = slices.Clone(t.Cols)
	return p.withoutPersons(&t)
}

// withoutPersons returns a table of t, a copy, in which each row is a unit.
func (p *persons) withoutPersons(t *dataset.Table) engine.Table {
	s := *p.t.whole
	s.Person = nil
	t.Schema, t.Persons = &s, nil
	t.Forget()
	return newTable(t, &s)
}

// checkPersons refuses questions before persons are settled. counted is set if the question gives
// every row weight one, which a table with weights does not support.
func (m *Table) checkPersons(what string, counted bool) error {
	switch {
	case m.weights == nil && m.persons != nil:
		return fmt.Errorf("memory: %s cannot be asked before it is settled what a person's rows count for", what)
	case m.weights != nil && counted:
		return fmt.Errorf("memory: %s count every row once, and these rows weigh what their persons allow", what)
	}
	return nil
}
