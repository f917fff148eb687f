// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

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
		code, ok := c.codeCell(row[i], r.s.Dialect.Trim)
		if !ok {
			return fault(c.Name, c.Want)
		}
		c.keepCode(code)
	}
	r.rows++
	return nil
}

// Table is the rows that were added, at least one under replace-one. The Builder is not to be used
// afterwards.
func (b *Builder) Table() (*Table, error) {
	if err := b.r.checkRows(memoryFile); err != nil {
		return nil, err
	}
	return b.r.makeTable(), nil
}
