// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cell is a cell that comes from no file: text, a number, a truth value, or the
// zero Cell, which is missing.
type Cell struct {
	kind   cellKind
	text   string
	number float64
}

type cellKind uint8

const (
	missingCell cellKind = iota
	textCell
	numberCell
	truthCell
)

// TextCell is a cell as a CSV file would spell it.
func TextCell(s string) Cell { return Cell{kind: textCell, text: s} }

// NumberCell is a cell that is a number.
func NumberCell(x float64) Cell { return Cell{kind: numberCell, number: x} }

// TruthCell is a number 0 or 1, or a category "false" or "true".
func TruthCell(b bool) Cell {
	c := Cell{kind: truthCell}
	if b {
		c.number = 1
	}
	return c
}

// memoryFile is the name in faults of rows that come from no file.
const memoryFile = "rows in memory"

// Builder makes a Table of rows that come from no file, by the rules of Read.
type Builder struct {
	r    *reader
	plan *layout
}

// NewBuilder begins a table of schema s whose rows have cells of these names, in
// this order: names of columns and of the label, by the same rules as in a header.
// Where the label is not among them the table has no labels.
func NewBuilder(ctx context.Context, s *schema.Schema, names []string) (*Builder, error) {
	opts := Options{Stdin: strings.NewReader("")} // no file is read
	if !slices.Contains(names, s.Label.Name) {
		opts.Labels = LabelsIgnored
	}
	r, err := newReader(ctx, s, opts, []string{"-"})
	if err != nil {
		return nil, err
	}
	plan, err := r.layoutByName(memoryFile, 0, names)
	if err != nil {
		return nil, err
	}
	return &Builder{r, plan}, nil
}

// Add appends a row, which has a cell for each name. A structural fault is a
// *FaultError with the number of the row, from 1. It does not keep the slice.
func (b *Builder) Add(row []Cell) error {
	r := b.r
	fault := func(column, want string) error {
		return &FaultError{File: memoryFile, Column: column, Line: r.rows + 1, Fault: want}
	}
	if r.rows%batch == 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	if len(row) != len(b.plan.coders) {
		return fault("", fmt.Sprintf("must have %d cells", len(b.plan.coders)))
	}
	if r.rows >= r.opts.MaxRows {
		return fault("", fmt.Sprintf("must not go beyond %d rows", r.opts.MaxRows))
	}
	for i, c := range b.plan.coders {
		if c == nil {
			continue
		}
		code, ok := c.codeCell(row[i], r.s.Dialect.Trim)
		if !ok {
			return fault(c.name, c.want)
		}
		c.keepCode(code)
	}
	r.rows++
	return nil
}

// Table is the rows that were added, at least one. The Builder is not to be used
// afterwards.
func (b *Builder) Table() (*Table, error) {
	if b.r.rows == 0 {
		return nil, &FaultError{File: memoryFile, Fault: "must have at least one row"}
	}
	return b.r.makeTable(), nil
}

// codeCell codes a cell that comes from no file.
func (c *coder) codeCell(v Cell, trim bool) (code uint32, ok bool) {
	switch v.kind {
	case textCell:
		text := []byte(v.text)
		if trim {
			text = trimmed(text)
		}
		return c.codeText(text)
	case numberCell:
		return c.codeFloat(v.number)
	case truthCell:
		return c.codeTruth(v.number == 1)
	}
	return c.codeMissing()
}

// RowCoder codes the cells of single rows, by the rules of Read, without labels. It
// is read-only, so goroutines may share it.
type RowCoder struct {
	s       *schema.Schema
	order   []int // of the cells of a row: indices into the schema's columns
	cols    []*coder
	derived int // the first derived column
}

// NewRowCoder codes rows of the columns of s that are read from files.
func NewRowCoder(s *schema.Schema) (*RowCoder, error) {
	if err := checkDerived(s); err != nil {
		return nil, err
	}
	cols, _, err := newCoders(s)
	if err != nil {
		return nil, err
	}
	out := &RowCoder{s: s, cols: cols, derived: len(s.FileColumns())}
	for j, c := range cols {
		if c != nil {
			out.order = append(out.order, j)
		}
		if of := &s.Columns[j]; of.Derived != schema.InFile {
			cols[j] = &coder{number: true, lower: of.Lower, upper: of.Upper}
		}
	}
	return out, nil
}

// Names are the columns of a row, in order.
func (rc *RowCoder) Names() (names []string) {
	for _, j := range rc.order {
		names = append(names, rc.s.Columns[j].Name)
	}
	return names
}

// Code codes the cell of the i-th of Names into row, which is parallel to the
// schema's columns. It does not allocate. A cell that a public column cannot hold is
// refused with a *dp.ParamError, which never repeats it.
func (rc *RowCoder) Code(i int, cell Cell, row []column.Cell) error {
	j, ok := rc.order[i], false
	c := rc.cols[j]
	if c.number {
		row[j].Number, ok = c.cellNumber(cell, rc.s.Dialect.Trim)
	} else {
		row[j].Code, ok = c.cellCode(cell, rc.s.Dialect.Trim)
	}
	if !ok {
		return &dp.ParamError{Op: "predict", Param: "column " + strconv.Quote(c.name), Want: c.want, Got: "another cell"}
	}
	return nil
}

// Derive computes the derived cells of a row whose others are coded.
func (rc *RowCoder) Derive(row []column.Cell) {
	for j := rc.derived; j < len(row); j++ {
		row[j].Number = rc.deriveCell(j, row)
	}
}

// deriveCell is a derived cell of the row whose cells of the file are coded.
func (rc *RowCoder) deriveCell(j int, row []column.Cell) float64 {
	c := &rc.s.Columns[j]
	x := row[c.From[0]].Number
	for _, from := range c.From[1:] {
		switch y := row[from].Number; c.Derived {
		case schema.Largest:
			x = max(x, y)
		case schema.Smallest:
			x = min(x, y)
		default:
			x += y
		}
	}
	if c.Derived == schema.Mean {
		x /= float64(len(c.From))
	}
	return rc.cols[j].clamp(x)
}

// cellNumber is the number that a cell of a number column stands for.
func (c *coder) cellNumber(v Cell, trim bool) (x float64, ok bool) {
	switch v.kind {
	case textCell:
		text := v.text
		if trim {
			text = trimmed(text)
		}
		return readNumber(c, text)
	case numberCell, truthCell:
		return c.clampFinite(v.number)
	}
	return c.standIn()
}

// cellCode is the code of a cell of a category column.
func (c *coder) cellCode(v Cell, trim bool) (code uint32, ok bool) {
	if v.kind != textCell {
		return c.codeCell(v, trim)
	}
	text := v.text
	if trim {
		text = trimmed(text)
	}
	if code, ok := c.levels[text]; ok {
		return code, true
	}
	return orNone(c.unknown)
}
