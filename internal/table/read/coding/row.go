// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// RowCoder codes the cells of single rows, by the rules of Read, without labels. It is safe for
// concurrent use.
type RowCoder struct {
	s       *schema.Schema
	order   []int // of a row's cells: indices into the schema's columns
	cols    []*Coder
	derived int // index of the first derived column
}

// NewRowCoder returns a coder of rows that have the columns of s which are in files.
func NewRowCoder(s *schema.Schema) (*RowCoder, error) {
	if err := CheckDerived(s); err != nil {
		return nil, err
	}
	out := &RowCoder{s: s, cols: make([]*Coder, len(s.Columns)), derived: len(s.FileColumns())}
	for j := range s.Columns {
		c := &s.Columns[j]
		var err error
		switch {
		case c.Role == schema.Ignored:
		case c.Derived != schema.InFile:
			out.cols[j] = NewDerived(c)
		default:
			if out.cols[j], err = New(c, &s.Dialect); err != nil {
				return nil, err
			}
			out.order = append(out.order, j)
		}
	}
	return out, nil
}

// Names returns the columns of a row, in order.
func (rc *RowCoder) Names() (names []string) {
	for _, j := range rc.order {
		names = append(names, rc.s.Columns[j].Name)
	}
	return names
}

// CountUndeclared counts the cells of rows by Code. cells has the fates of the cells of each of Names.
func (rc *RowCoder) CountUndeclared(cells []Counts) []Undeclared {
	counts := make([]Counts, len(rc.s.Columns))
	for i, j := range rc.order[:len(cells)] {
		counts[j] = cells[i]
	}
	return FindUndeclared(rc.s, counts)
}

// Code codes the cell of the i-th of Names into row, which is parallel to the
// schema's columns. It does not allocate if the cell is spelt as the schema has it. A cell that a public
// column cannot hold is refused with a *dp.ParamError, which never repeats it.
func (rc *RowCoder) Code(i int, cell Cell, row []column.Cell) (Fate, error) {
	j := rc.order[i]
	c := rc.cols[j]
	v, fate := c.ReadCell(cell)
	if fate.Refused() {
		return fate, &dp.ParamError{Op: "predict", Param: "column " + strconv.Quote(c.Name), Want: c.Want, Got: "another cell"}
	}
	if c.Number {
		mark, amount := c.TakeMark(v.Number)
		v = column.Cell{Code: uint32(mark), Number: amount}
	}
	row[j].Code, row[j].Number = v.Code, v.Number
	return fate, nil
}

// Derive computes the derived cells of a row whose other cells are coded.
func (rc *RowCoder) Derive(row []column.Cell) {
	for j := rc.derived; j < len(row); j++ {
		c := &rc.s.Columns[j]
		x := Derive(c, rc.s.Columns[c.From[0]].Since, func(j int) float64 { return row[j].Number })
		row[j].Number = rc.cols[j].Clamp(x)
	}
}

// Derive computes a derived cell that is not clamped yet. cell returns the number of a source, by its
// index among the schema's columns; since is the Since of the first. It adds in the order of the sources and
// multiplies nothing, so that sums are equal on every machine.
func Derive(c *schema.Column, since int, cell func(j int) float64) float64 {
	x := cell(c.From[0])
	for _, from := range c.From[1:] {
		switch y := cell(from); c.Derived {
		case schema.Largest:
			x = max(x, y)
		case schema.Smallest:
			x = min(x, y)
		default:
			x += y
		}
	}
	switch {
	case c.Derived == schema.Mean:
		x /= float64(len(c.From))
	case c.IsDatePart():
		x = schema.DatePart(c.Derived, since, x)
	}
	return x
}

// CheckDerived refuses derived columns that no schema file can declare.
func CheckDerived(s *schema.Schema) error {
	file := s.FileColumns()
	for j := len(file); j < len(s.Columns); j++ {
		c := &s.Columns[j]
		refuse := func(param, want string) error {
			return &dp.ParamError{Op: "dataset: column " + strconv.Quote(c.Name), Param: param, Want: want}
		}
		private := false
		for _, from := range c.From {
			if from < 0 || from >= len(file) || file[from].Kind != schema.Number || file[from].Role == schema.Ignored {
				return refuse("sources", "must be number columns of the file that are read")
			}
			private = private || file[from].Role != schema.Public
		}
		if private && c.Role != schema.Private { // evidence/guarantees/README.md, "Derived columns"
			return refuse("role", "must be private, since a source is")
		}
		switch {
		case c.IsDatePart():
			if len(c.From) != 1 || file[c.From[0]].Date == "" || c.Kind != schema.Number {
				return refuse("derivation", "must take a part of one column of dates")
			}
		case !slices.Contains([]schema.Derivation{schema.Largest, schema.Smallest, schema.Mean}, c.Derived) ||
			c.Kind != schema.Number || len(c.From) == 0:
			return refuse("derivation", "must be the largest, smallest or mean of numbers, behind the columns of the file")
		}
	}
	return nil
}
