// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Neighbours is two tables that differ in the protected part of one row, or of all rows of one
// person if the schema declares persons.
type Neighbours struct {
	Name   string
	Tables [2]*dataset.Table
}

// Scope is the default for the part of a row that a claim about the schema's tables protects.
func Scope(s *schema.Schema) dp.Scope {
	if s.Label.Role == schema.Private || s.Relation == dp.AddRemove || len(s.ByRole(schema.Public)) == 0 {
		return dp.WholeRow
	}
	return dp.PrivateFeatures
}

// AllNeighbours lists pairs of tables to search: extreme rows among equal ones,
// and random pairs drawn from src. rows is their size, at least 2. Under
// add-remove the row is left out of the second table instead of being replaced.
// If the schema declares persons, each row is its own person, except the row that
// differs: its person has several alike.
func AllNeighbours(s *schema.Schema, rows int, scope dp.Scope, src rng.Source) (list []Neighbours) {
	label := scope != dp.PrivateFeatures
	add := func(name string, t *dataset.Table, a, b cell, labels [2]uint8) {
		n := Neighbours{name, [2]*dataset.Table{replaceProtected(t, scope, a, labels[0]),
			replaceProtected(t, scope, b, labels[1])}}
		if s.Relation == dp.AddRemove {
			n.Tables[1] = n.Tables[0].Subset(upFrom(1, rows))
			n.Name += ", added against left out"
		}
		list = append(list, n.withPersons(s, scope, len(list)%2 == 1))
	}
	same := func(t *dataset.Table, label uint8) *dataset.Table {
		for i := range t.Labels {
			t.Labels[i] = label
		}
		return t
	}
	last := uint8(s.Classes() - 1)
	add("one row at the lower ends against the upper, the others low", equalRows(s, rows, lowestCode), lowestCode,
		highestCode, [2]uint8{0, 0})
	add("one row at the lower ends against the upper, the others high", equalRows(s, rows, highestCode), lowestCode,
		highestCode, [2]uint8{last, last})
	add("one row at the lower ends against the upper, the others low and of one label",
		same(equalRows(s, rows, lowestCode), 0), lowestCode, highestCode, [2]uint8{0, 0})
	if label && s.Relation != dp.AddRemove {
		add("one row with the first label against the last, at the upper ends, the others low",
			equalRows(s, rows, lowestCode), highestCode, highestCode, [2]uint8{0, last})
		add("one row with the first label against the last, the others of the first",
			same(equalRows(s, rows, highestCode), 0), highestCode, highestCode, [2]uint8{0, last})
	}
	anything := func(codes int) uint32 { return uint32(rng.Below(src, uint64(codes))) }
	for i := range 3 {
		t := equalRows(s, rows, anything)
		for k := range t.Labels {
			t.Labels[k] = uint8(anything(s.Classes()))
		}
		one := func() uint8 { return uint8(anything(s.Classes())) }
		add(fmt.Sprintf("random pair %d", i+1), t, anything, anything, [2]uint8{one(), one()})
	}
	return list
}

// withPersons repeats row 0 of both tables as the rows of a person with more rows than the
// contribution bound. fewer leaves one of them out on the second side, if the relation allows that.
func (n Neighbours) withPersons(s *schema.Schema, scope dp.Scope, fewer bool) Neighbours {
	if s.Person == nil {
		return n
	}
	const most = 60 // rows of a person in a table of an audit
	for side, t := range n.Tables {
		times := min(s.Person.Rows, most) + 3
		switch {
		case s.Relation == dp.AddRemove && side == 1:
			continue
		case s.Relation == dp.ReplaceOne && scope == dp.WholeRow && fewer && side == 1:
			times = 1
		}
		n.Tables[side] = t.Subset(slices.Concat(slices.Repeat([]int{0}, times), upFrom(1, t.Rows)))
	}
	n.Name += ", all rows of a person"
	return n
}

// upFrom returns the numbers from a to below b.
func upFrom(a, b int) (out []int) {
	for i := a; i < b; i++ {
		out = append(out, i)
	}
	return out
}

// cell chooses the code of a column with that many codes.
type cell func(codes int) uint32

func lowestCode(int) uint32        { return 0 }
func highestCode(codes int) uint32 { return uint32(codes - 1) }

// codeValues returns the codes that a table here can hold: a number's declared bounds and middle, a
// category's declared levels. Derived cells are computed from the others.
func codeValues(c *schema.Column) (values []float64, codes int) {
	switch {
	case c.Role == schema.Ignored || c.Derived != schema.InFile:
		return nil, 0
	case c.Kind == schema.Number:
		return []float64{c.Lower, c.Lower + (c.Upper-c.Lower)/2, c.Upper}, 3
	}
	return nil, len(c.Levels)
}

// equalRows returns a table of equal rows with alternating labels, each of a different person, and no
// derived cells.
func equalRows(s *schema.Schema, rows int, of cell) *dataset.Table {
	t := &dataset.Table{Schema: s, Rows: rows, Cols: make([]column.Column, len(s.Columns)), Labels: make([]uint8, rows)}
	for j := range s.Columns {
		values, codes := codeValues(&s.Columns[j])
		if codes == 0 {
			continue
		}
		t.Cols[j] = column.Column{Values: values, Codes: column.Narrow(slices.Repeat([]uint32{of(codes)}, rows),
			max(s.Columns[j].Codes(), codes))}
	}
	for i := range t.Labels {
		t.Labels[i] = uint8(i % s.Classes())
	}
	if s.Person != nil {
		for i := range rows {
			t.Persons = append(t.Persons, uint32(i+1))
		}
	}
	return t
}

// replaceProtected returns t with the protected cells of its row 0 set by of, and its label if that is
// protected. Derived cells are updated.
func replaceProtected(t *dataset.Table, scope dp.Scope, of cell, label uint8) *dataset.Table {
	out := t.Subset(upFrom(0, t.Rows))
	for j := range t.Schema.Columns {
		c := &t.Schema.Columns[j]
		_, n := codeValues(c)
		if n == 0 || scope == dp.LabelOnly || c.Role == schema.Public && scope != dp.WholeRow {
			continue
		}
		codes := make([]uint32, t.Rows)
		out.Cols[j].Codes.Read(0, codes)
		codes[0] = of(n)
		out.Cols[j].Codes = column.Narrow(codes, max(c.Codes(), n))
	}
	out.Derive()
	if scope != dp.PrivateFeatures {
		out.Labels[0] = label
	}
	return out
}
