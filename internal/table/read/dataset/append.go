// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/object"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Added is a column that CopyRows adds after the others. Exactly one of Text and Number is set.
// It is called for rows 0, 1, 2, ... of all files together, in order.
type Added struct {
	Name   string // gets the suffix "_2", "_3", ... if another column has this name
	Text   func(row int) string
	Number func(row int) float64
}

// CopyRows writes the tables in the files to w, one after another, with columns added. It streams: memory
// does not grow with the rows. For each row it calls keep with the row's position among all, from 0, and skips
// the row if that is false, or ends if columns are added; a nil keep keeps all.
//
// Cells are copied unchanged, private ones included; nothing is clamped or repaired. Columns are in
// the order of the first file. CSV is written in the schema's dialect, without comments and without
// the white space that the dialect trims. Lines that the schema skips are written as far as the output
// needs them to match the schema. Parquet of Parquet files with the same columns keeps their types and values.
// In Parquet of other files, the schema's numbers become doubles, null if a cell is missing or not a number,
// and all other columns, dates among them, become strings, null if a cell is missing.
//
// Errors are as for Read, but the content of cells is not checked.
func CopyRows(ctx context.Context, s *schema.Schema, opts Options, w io.Writer, format Format, added []Added,
	keep func(row int) bool, paths ...string) error {
	r, err := newReader(ctx, s, opts, paths)
	if err != nil {
		return err
	}
	if err := CheckReadTwice(ctx, paths...); err != nil {
		return err
	}
	if format == Parquet {
		if done, err := r.spliceRows(w, added, keep); done {
			return err
		}
	}
	var out sink
	var names []string
	row := 0
	for _, path := range r.paths {
		in, err := r.openRows(path)
		if err != nil {
			return err
		}
		if out == nil {
			names = r.namesToWrite(in.columns())
			unique := r.nameAdded(names, added)
			if format == Parquet {
				out = newParquetSink(w, s, names, unique, sinkGroup)
			} else {
				out, err = newTextSink(w, s.Dialect, names, unique)
			}
		}
		if err == nil {
			err = copyRows(in, out, names, added, keep, &row)
		}
		if closeErr := in.close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
	}
	return out.close()
}

// CheckReadTwice refuses tables that CopyRows cannot copy, because their rows may be others when they are read again.
func CheckReadTwice(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		if IsAddress(path) || path == Cells || isReadOnce(ctx, path) {
			return &dp.ParamError{Op: "dataset", Param: "data", Want: "must be a file: this command reads rows twice", Got: path,
				Hint: "write the table to a file first; in a database an exported model can also run where the rows are"}
		}
	}
	return nil
}

// isReadOnce reports whether path is a pipe or a device, whose rows are gone once they were read.
func isReadOnce(ctx context.Context, path string) bool {
	if object.IsAddress(path) || findHeld(ctx, path) != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// namesToWrite returns the columns of a file that are copied.
func (r *reader) namesToWrite(names []string) []string {
	if r.opts.Extra != ExtraDropped {
		return names
	}
	declared := []string{r.s.Label.Name}
	for _, c := range r.s.FileColumns() {
		declared = append(declared, c.Name)
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(declared, name) })
}

// sink writes rows.
type sink interface {
	writeRow(cells, added []cell) error
	close() error
}

// copyRows copies the rows of in, with its cells in the order of names.
func copyRows(in rows, out sink, names []string, added []Added, keep func(row int) bool, row *int) error {
	from := make([]int, len(names))
	for i, name := range names {
		from[i] = slices.Index(in.columns(), name)
	}
	ordered := make([]cell, len(names))
	extra := make([]cell, len(added))
	for {
		cells, err := in.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if keep != nil && !keep(*row) {
			*row++
			continue
		}
		for i, at := range from {
			ordered[i] = cell{}
			if at >= 0 {
				ordered[i] = cells[at]
			}
		}
		addCells(extra, added, *row)
		if err := out.writeRow(ordered, extra); err != nil {
			return err
		}
		*row++
	}
}

// addCells appends the cells of added columns for one row.
func addCells(cells []cell, added []Added, row int) {
	for i, a := range added {
		if a.Number != nil {
			cells[i] = cell{form: numeric, number: a.Number(row)}
			continue
		}
		cells[i] = cell{form: textual, text: []byte(a.Text(row))}
	}
}

// nameAdded gives the added columns names that no other column has.
func (r *reader) nameAdded(names []string, added []Added) []Added {
	taken := slices.Clone(names)
	added = slices.Clone(added)
	for _, c := range r.s.Columns[len(r.s.FileColumns()):] {
		taken = append(taken, c.Name) // or the result would not fit the schema
	}
	for i := range added {
		name := added[i].Name
		for n := 2; slices.Contains(taken, name); n++ {
			name = fmt.Sprintf("%s_%d", added[i].Name, n)
		}
		added[i].Name = name
		taken = append(taken, name)
	}
	return added
}
