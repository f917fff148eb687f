// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Selection selects the rows of a table whose cell in a public column is one of the named levels or,
// for a date, is in one of the named months (see schema.Column.Month).
type Selection struct {
	Column string   `json:"column"`
	Names  []string `json:"names"`
}

// Of returns the selected rows of t. The result contains no number that only other rows hold. A nil
// Selection selects all rows.
func (s *Selection) Of(t *Table) *Table {
	if s == nil {
		return t
	}
	j := t.Schema.Find(s.Column)
	c, cells := &t.Schema.Columns[j], t.Cols[j]
	var wanted []bool // by code
	if c.Kind == schema.Category {
		for _, l := range c.Levels {
			wanted = append(wanted, slices.Contains(s.Names, l.Value))
		}
	} else {
		for code, x := range cells.Values {
			isDate := cells.Marks == nil || cells.Marks[code] == 0
			wanted = append(wanted, isDate && slices.Contains(s.Names, c.Month(x)))
		}
	}
	var rows []int
	for i := range t.Rows {
		if code := int(cells.Codes.At(i)); code < len(wanted) && wanted[code] { // what is no level has the last code
			rows = append(rows, i)
		}
	}
	out := t.Subset(rows)
	out.Forget()
	return out
}
