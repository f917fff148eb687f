// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// coder converts the cells of one column into codes and stores them.
type coder struct {
	*coding.Coder
	dictionary numbers // of a number column
	unsorted   bool    // values stay in the order of rows that are only scored
	pending    []uint32
	out        column.Builder
	ids        *identifiers // for the column that identifies persons
	recent     recent
	counts     *coding.Counts
	numbers    map[string]bool // some of the cells that are numbers; in a Check
	texts      map[string]bool // some of the cells that do not fit; not nil in a Check, which keeps no codes
}

// newPersonCoder returns the coder of the column that identifies persons.
func newPersonCoder(s *schema.Schema, ids *identifiers) *coder {
	return &coder{Coder: coding.NewIdentifier(s.Person, &s.Dialect, ids.numberOf), ids: ids}
}

// newCoders returns a coder for each column, and one for the label. Ignored and derived columns have
// nil, except the column that identifies persons.
func newCoders(s *schema.Schema) (cols []*coder, label *coder, err error) {
	cols = make([]*coder, len(s.Columns))
	for j := range s.Columns {
		c := &s.Columns[j]
		if j == s.PersonColumn() {
			cols[j] = newPersonCoder(s, newIdentifiers())
			continue
		}
		if c.Role == schema.Ignored || c.Derived != schema.InFile {
			continue
		}
		of, err := coding.New(c, &s.Dialect)
		if err != nil {
			return nil, nil, err
		}
		cols[j] = &coder{Coder: of}
	}
	of, err := coding.NewLabel(&s.Label, &s.Dialect)
	return cols, &coder{Coder: of}, err
}

// code returns the code of a value, and what became of its cell.
func (c *coder) code(v column.Cell, fate coding.Fate) (uint32, coding.Fate) {
	if c.Number && !fate.Refused() {
		return c.dictionary.codeOf(v.Number), fate
	}
	return v.Code, fate
}

func (c *coder) codeClamped(x float64) uint32 { return c.dictionary.codeOf(c.Clamp(x)) }

// batch is the number of codes collected before they are stored.
const batch = 1024

func (c *coder) keepCode(code uint32, fate coding.Fate) {
	c.count(fate, 1)
	if c.pending = append(c.pending, code); len(c.pending) >= batch {
		c.flushCodes()
	}
}

// count notes the fate of n cells, if somebody wants to know it.
func (c *coder) count(fate coding.Fate, n int) {
	if fate != coding.Read && c.counts != nil {
		c.counts[fate.Kind()] += n
	}
}

// countCells makes coders count.
func countCells(coders []*coder) {
	for _, c := range coders {
		if c != nil && c.ids == nil {
			c.counts = new(coding.Counts)
		}
	}
}

// takeCounts returns what coders counted since the last call.
func takeCounts(coders []*coder) []coding.Counts {
	out := make([]coding.Counts, len(coders))
	for i, c := range coders {
		if c != nil && c.counts != nil {
			out[i], *c.counts = *c.counts, coding.Counts{}
		}
	}
	return out
}

func (c *coder) flushCodes() {
	c.store(c.pending)
	c.pending = c.pending[:0]
}

func (c *coder) store(codes []uint32) {
	if c.texts == nil {
		c.out.Append(codes)
	}
}

// takeColumn returns the stored cells, and forgets them.
func (c *coder) takeColumn() column.Column {
	c.flushCodes()
	c.pending = nil
	col := column.Column{Codes: c.out.Codes()}
	c.out = column.Builder{}
	if c.Number {
		if col.Values = c.dictionary.values; !c.unsorted || col.Values == nil { // which would be a category's
			// In the order of the values, so that a table does not show in which
			// order its rows were read.
			var to []uint32
			col.Values, to = c.dictionary.sortValues()
			col.Codes.Recode(to)
		}
		c.dictionary, c.recent = numbers{}, recent{} // whose codes they were
		if c.HasMarks() {
			amount, _ := c.StandIn() // there is one beside marks
			col.TakeMarks(amount)
		}
	}
	return col
}

// takePersons is takeColumn for the column that identifies persons.
func (c *coder) takePersons() []uint32 {
	codes := c.takeColumn().Codes
	out := make([]uint32, codes.Len())
	codes.Read(0, out)
	return out
}
