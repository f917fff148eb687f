// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
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
	// Whole declares that identifiers are whole numbers: 123, 123.0 and 0123 are one person, in text or as a number
	// of any type. Otherwise an identifier is a text in NFC, and a number is its digits.
	Whole bool
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
	g := r.openMapping(n, "person ", "column", "rows", "persons", "identifiers", "one_part")
	p := &Person{Column: g.prose("column", hint)}
	i := s.Find(p.Column)
	switch {
	case p.Column == "":
	case i < 0 || s.Columns[i].Derived != InFile:
		g.refuse("column", "must name one of the columns of the file", strconv.Quote(p.Column), hint)
	case s.Columns[i].Role != Ignored:
		g.refuse("column", "must name an ignored column: an identifier is never a feature", strconv.Quote(p.Column),
			"write role: ignored for column "+strconv.Quote(p.Column))
	}
	p.Rows = g.whole("rows", 1, MaxPersonRows, "write rows: 1 to let a person count for one row however many they have, or a "+
		"larger number C to let them count for up to C rows at C times the noise")
	if g.has("persons") {
		p.Persons = g.whole("persons", 1, 1<<31-1, "write about how many persons there are, from public knowledge, or "+
			"remove the line")
	}
	if g.has("identifiers") {
		p.Whole = g.choice("identifiers", "must be text or whole", "write identifiers: whole if each is a whole number, so that 123 and "+
			"123.0 are one person, or remove the line", "text", "whole") == "whole"
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

// personTree is the inverse of readPerson.
func (p *Person) personTree() *node {
	n := &node{form: mapping}
	n.addPair("column", textNode(p.Column))
	n.addCount("rows", p.Rows)
	n.addCount("persons", p.Persons)
	if p.Whole {
		n.addPair("identifiers", textNode("whole"))
	}
	n.addFlag("one_part", p.OnePart)
	return n
}

// PersonColumn returns the index in Columns of the column that identifies persons, -1 if each row is a
// unit.
func (s *Schema) PersonColumn() int {
	if s.Person == nil {
		return -1
	}
	return s.Find(s.Person.Column)
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
