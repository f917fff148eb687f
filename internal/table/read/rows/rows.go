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
	"time"

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
	dates []string // format of the column's dates; "" if it has none
}

// Cells writes the cells of a struct, one for each of Names, to cells.
func (f *Fields) Cells(v reflect.Value, cells []coding.Cell) {
	for k, at := range f.at {
		cells[k] = cellOf(v.FieldByIndex(at), f.dates[k])
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
	values, into, cells := make([]any, len(names)), make([]any, len(names)), make([]coding.Cell, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, errQuery
		}
		for i, v := range values {
			cells[i] = cellOfSQL(v)
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
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		date := DateFormat(s, name)
		switch {
		case others && !slices.Contains(known, name):
			continue
		case !slices.Contains(known, name):
			return nil, refuse("field "+f.Name, `must be a column of the schema, or have the tag discreet:"-"`,
				strconv.Quote(name))
		case slices.Contains(out.Names, name):
			return nil, refuse("field "+f.Name, "must not be a column that another field is", strconv.Quote(name))
		case kind == timeType && date == "":
			return nil, refuse("field "+f.Name, "must not be a time, since the schema has no dates there", f.Type)
		case kind != timeType && !isCellKind(kind.Kind()):
			return nil, refuse("field "+f.Name, "must be a string, a number, a bool or a time, or a pointer to one", f.Type)
		case len(f.Index) > 1 && hasPointer(t, f.Index[:len(f.Index)-1]):
			return nil, refuse("field "+f.Name, "must not be in an embedded pointer", f.Type)
		}
		out.at, out.Names, out.dates = append(out.at, f.Index), append(out.Names, name), append(out.dates, date)
	}
	return out, nil
}

var timeType = reflect.TypeFor[time.Time]()

// DateFormat returns the format of a date column's cells; "" for other columns.
func DateFormat(s *schema.Schema, name string) string {
	if i := s.Find(name); i >= 0 {
		return s.Columns[i].Date
	}
	return ""
}

// CellOf converts a value to a cell; date is the column's DateFormat. ok is false if the value's type
// has no cell.
func CellOf(value any, date string) (cell coding.Cell, ok bool) {
	if value == nil {
		return coding.Cell{}, true
	}
	v := reflect.ValueOf(value)
	kind := v.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if !(kind == timeType && date != "") && !isCellKind(kind.Kind()) {
		return coding.Cell{}, false
	}
	return cellOf(v, date), true
}

func hasPointer(t reflect.Type, path []int) bool {
	for _, i := range path {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

func isCellKind(k reflect.Kind) bool {
	return k == reflect.String || k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
}

func cellOf(v reflect.Value, date string) coding.Cell {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return coding.Cell{}
		}
		v = v.Elem()
	}
	switch {
	case v.Type() == timeType:
		return coding.TextCell(schema.WriteDate(date, v.Interface().(time.Time)))
	case v.Kind() == reflect.String:
		return coding.TextCell(v.String())
	case v.Kind() == reflect.Bool:
		return coding.TruthCell(v.Bool())
	case v.CanInt():
		return integerCell(v.Int())
	case v.CanUint():
		return coding.TextCell(strconv.FormatUint(v.Uint(), 10))
	}
	return coding.NumberCell(v.Float())
}

// integerCell keeps all digits of integers that a float64 cannot represent: they may be values of a
// category.
func integerCell(x int64) coding.Cell {
	if f := float64(x); int64(f) == x {
		return coding.NumberCell(f)
	}
	return coding.TextCell(strconv.FormatInt(x, 10))
}

// cellOfSQL converts a value to a cell. If the value's type has no cell, the cell is missing. It is
// not refused, because some databases have a type per value and not per column, so that an error would
// reveal something about a cell.
func cellOfSQL(v any) coding.Cell {
	switch v := v.(type) {
	case string:
		return coding.TextCell(v)
	case []byte:
		return coding.TextCell(string(v))
	case int64:
		return integerCell(v)
	case float64:
		return coding.NumberCell(v)
	case bool:
		return coding.TruthCell(v)
	case time.Time:
		return coding.TextCell(v.Format(time.RFC3339Nano))
	}
	return coding.Cell{}
}
