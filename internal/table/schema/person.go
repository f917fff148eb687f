// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Person declares that the unit of privacy is a person with any number of rows: neighbours differ in
// all rows of one person, not in one row.
type Person struct {
	// Column is the ignored column of the file whose cells identify persons. It is never a feature and
	// is never written anywhere. Rows without an identifier are not used.
	Column string
	Rows   int // contribution bound of a person in rows, at least 1
	// Persons is the number of persons that plans assume if the true number is private; 0 if not
	// given.
	Persons int
	// OnePart declares that each person has rows in one of the schema's parts only.
	OnePart bool
}

// MaxPersonRows bounds Person.Rows.
const MaxPersonRows = 1 << 20

// readPerson reads the unit of privacy, after the columns.
func (r *reader) readPerson(f fields, s *Schema) {
	const hint = "write person: {column: NAME, rows: 1}, NAME being the ignored column that identifies a person, or " +
		"remove the line: a row is then a unit of its own"
	n := f.requireNode("person", hint)
	if n == nil {
		return
	}
	if n.form != mapping {
		f.refuse("person", "must be a mapping", describeNode(n), hint)
		return
	}
	g := r.openMapping(n, "person ", "column", "rows", "persons", "one_part")
	p := &Person{Column: g.prose("column", hint)}
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == p.Column })
	switch {
	case p.Column == "":
	case i < 0 || s.Columns[i].Derived != InFile:
		g.refuse("column", "must name one of the columns of the file", strconv.Quote(p.Column), hint)
	case s.Columns[i].Role != Ignored:
		g.refuse("column", "must name an ignored column: an identifier is never a feature", strconv.Quote(p.Column),
			"write role: ignored for column "+strconv.Quote(p.Column))
	}
	const rows = "write rows: 1 to let a person count for one row however many they have, or a larger number C to let " +
		"them count for up to C rows at C times the noise"
	if g.requireNode("rows", rows) != nil {
		p.Rows = r.readWhole(g, "rows", 1, MaxPersonRows, rows)
	}
	if g.has("persons") {
		const hint = "write about how many persons there are, from public knowledge, or remove the line"
		if m := g.requireNode("persons", hint); m != nil {
			p.Persons = r.readWhole(g, "persons", 1, 1<<31-1, hint)
		}
	}
	if g.has("one_part") {
		p.OnePart = g.boolean("one_part", "write one_part: true if no person has rows in two parts, or remove the line")
	}
	if s.Parts != "" && !p.OnePart {
		g.refuse("one_part", "must be true with parts: a person with rows in two parts would be charged for one of them",
			p.OnePart, "declare one_part: true if no person can have rows in two parts, or remove parts:")
	}
	s.Person = p
}

// readWhole reads a whole number; 0 after a report.
func (r *reader) readWhole(f fields, key string, least, most int, hint string) int {
	n := f.values[key]
	i, err := strconv.Atoi(n.text)
	if n.form != plain || err != nil || i < least || i > most {
		f.refuse(key, fmt.Sprintf("must be a whole number between %d and %d", least, most), describeNode(n), hint)
		return 0
	}
	return i
}

// personTree is the inverse of readPerson.
func (p *Person) personTree() *node {
	n := &node{form: mapping}
	n.addPair("column", textNode(p.Column))
	n.addPair("rows", &node{form: plain, text: strconv.Itoa(p.Rows)})
	if p.Persons > 0 {
		n.addPair("persons", &node{form: plain, text: strconv.Itoa(p.Persons)})
	}
	if p.OnePart {
		n.addPair("one_part", booleanNode(true))
	}
	return n
}

// PersonColumn returns the index in Columns of the column that identifies persons, -1 if each row is a
// unit.
func (s *Schema) PersonColumn() int {
	if s.Person == nil {
		return -1
	}
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == s.Person.Column })
}

// UnitWords describes the unit of privacy: one row, or all rows of one person.
func (s *Schema) UnitWords() string {
	if s.Person == nil {
		return "one row"
	}
	return "all rows of one person"
}

// Neighbours describes the neighbouring tables of the guarantee in words.
func (s *Schema) Neighbours() string {
	switch {
	case s.Person == nil:
		return string(s.Relation)
	case s.Relation == dp.AddRemove:
		return string(dp.AddRemove) + " all rows of one person"
	}
	return string(dp.ReplaceOne) + ": all rows of one person"
}
