// SPDX-License-Identifier: Apache-2.0

// Package rows makes tables from rows in a program: structs, text, or the rows of a query.
package rows

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Names returns the columns of a table's files in order, the label included.
func Names(s *schema.Schema) []string {
	var names []string
	for _, c := range s.FileColumns() {
		names = append(names, c.Name)
	}
	return slices.Insert(names, s.Label.Position, s.Label.Name)
}

// Fields describes the fields of a struct that are columns.
type Fields struct {
	Names []string // the columns' names
	at    [][]int  // index of each field in the struct
}

// Cells writes the cells of a struct, one for each of Names, to cells.
func (f *Fields) Cells(v reflect.Value, cells []coding.Cell) {
	for k, at := range f.at {
		cells[k] = cellOf(v.FieldByIndex(at))
	}
}

// OfStructs makes a table from a slice of structs. A column is read from the exported field with the
// tag `discreet:"name"`, or else from the field of that name.
func OfStructs[T any](s *schema.Schema, rows []T) (*dataset.Table, error) {
	fields, err := FieldsOf(s, reflect.TypeFor[T](), false)
	if err != nil {
		return nil, err
	}
	b, err := dataset.NewBuilder(context.Background(), s, fields.Names)
	if err != nil {
		return nil, err
	}
	cells := make([]coding.Cell, len(fields.Names))
	for i := range rows {
		fields.Cells(reflect.ValueOf(&rows[i]).Elem(), cells)
		if err := b.Add(cells); err != nil {
			return nil, err
		}
	}
	return b.Table()
}

// OfText makes a table from rows of text, with a cell for each of Names(s).
func OfText(s *schema.Schema, rows iter.Seq[[]string]) (*dataset.Table, error) {
	b, err := dataset.NewBuilder(context.Background(), s, Names(s))
	if err != nil {
		return nil, err
	}
	var cells []coding.Cell
	for row := range rows {
		cells = cells[:0]
		for _, text := range row {
			cells = append(cells, coding.TextCell(text))
		}
		if err := b.Add(cells); err != nil {
			return nil, err
		}
	}
	return b.Table()
}

// OfSQL makes a table from the remaining rows of a query, and closes the query.
func OfSQL(ctx context.Context, s *schema.Schema, rows *sql.Rows) (_ *dataset.Table, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	b, err := dataset.NewBuilder(ctx, s, names)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(s, rows)
	if err != nil {
		return nil, err
	}
	values, into, cells := make([]any, len(names)), make([]any, len(names)), make([]coding.Cell, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, errQuery
		}
		for i, v := range values {
			cells[i] = columns[i].cellOf(v)
		}
		if err := b.Add(cells); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errQuery
	}
	return b.Table()
}

// errQuery replaces errors during the reading of rows, whose text may contain a cell.
var errQuery = errors.New("table: the query failed while its rows were read")

// FieldsOf finds the field of each column of s in a struct type. Fields that match no column are
// refused unless others is set.
func FieldsOf(s *schema.Schema, t reflect.Type, others bool) (*Fields, error) {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "table", Param: param, Want: want, Got: got}
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, refuse("rows", "must be structs", t)
	}
	known, out := Names(s), &Fields{}
	for _, f := range reflect.VisibleFields(t) {
		tag, tagged := f.Tag.Lookup("discreet")
		if !f.IsExported() || f.Anonymous || tag == "-" {
			continue
		}
		name := f.Name
		if tagged {
			name = tag
		}
		switch {
		case others && !slices.Contains(known, name):
			continue
		case !slices.Contains(known, name):
			return nil, refuse("field "+f.Name, `must be a column of the schema, or have the tag discreet:"-"`,
				strconv.Quote(name))
		case slices.Contains(out.Names, name):
			return nil, refuse("field "+f.Name, "must not be a column that another field is", strconv.Quote(name))
		case len(f.Index) > 1 && hasPointer(t, f.Index[:len(f.Index)-1]):
			return nil, refuse("field "+f.Name, "must not be in an embedded pointer", f.Type)
		}
		coder, err := coderOf(s, name)
		if err != nil {
			return nil, err
		}
		if want := cannotCarry(coder, typeOf(f.Type)); want != "" {
			return nil, refuse("field "+f.Name, want, f.Type)
		}
		out.at, out.Names = append(out.at, f.Index), append(out.Names, name)
	}
	return out, nil
}

func hasPointer(t reflect.Type, path []int) bool {
	for _, i := range path {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// coderOf returns the coder of a column or of the label; nil for a column that is not read.
func coderOf(s *schema.Schema, name string) (*coding.Coder, error) {
	i := s.Find(name)
	switch {
	case name == s.Label.Name:
		return coding.NewLabel(&s.Label, &s.Dialect)
	case i >= 0 && i == s.PersonColumn():
		return coding.NewIdentifier(s.Person, &s.Dialect, func([]byte) uint32 { return 0 }), nil
	case i < 0, s.Columns[i].Role == schema.Ignored, s.Columns[i].Derived != schema.InFile:
		return nil, nil
	}
	return coding.New(&s.Columns[i], &s.Dialect)
}

func cannotCarry(c *coding.Coder, t coding.Type) string {
	if c == nil {
		return ""
	}
	return c.CannotCarry(t)
}
