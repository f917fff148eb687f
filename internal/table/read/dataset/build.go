// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// memoryFile is the file name in faults for rows that do not come from a file. Their text leaves it out.
const memoryFile = "rows in memory"

// Builder makes a Table of rows that do not come from a file, by the rules of Read.
type Builder struct {
	r    *reader
	plan *layout
}

// NewBuilder begins a table of schema s whose rows have cells with these names in this order. They are
// names of columns and of the label, by the same rules as in a header. Without the label, the table
// has no labels, and has its Counts.
func NewBuilder(ctx context.Context, s *schema.Schema, names []string) (*Builder, error) {
	opts := Options{Stdin: strings.NewReader("")} // no file is read
	if !slices.Contains(names, s.Label.Name) {
		opts.Labels, opts.Count = LabelsIgnored, true
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

// Add appends a row, which has a cell for each name. A structural fault is a *FaultError with the
// number of the row, from 1. It does not retain the slice.
func (b *Builder) Add(row []coding.Cell) error {
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
		code, fate := c.code(c.ReadCell(row[i]))
		if fate.Refused() {
			return fault(c.Name, c.Want)
		}
		c.keepCode(code, fate)
	}
	r.rows++
	return nil
}

// Table returns the added rows, at least one under replace-one. The Builder must not be used
// afterwards.
func (b *Builder) Table() (*Table, error) {
	if err := b.r.checkRows(memoryFile); err != nil {
		return nil, err
	}
	return b.r.makeTable(), nil
}
