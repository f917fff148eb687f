// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// Table is rows in memory, coded as their schema says: about a byte per cell, never
// changed, so that goroutines may share it.
type Table struct {
	s    *Schema
	t    *dataset.Table
	data []string // the files it was read from
}

// Rows is the number of rows. Under AddRemove it is private.
func (t *Table) Rows() int { return t.t.Rows }

// ReadTable reads labelled rows from files, CSV (plain or gzip) or Parquet
// (.parquet), one behind the other. Columns are matched by name where the files
// have names. A structural fault is a *FaultError; an unreadable private cell
// becomes what the schema declares, silently.
func ReadTable(ctx context.Context, s *Schema, paths ...string) (*Table, error) {
	t, err := dataset.Read(ctx, s.s, dataset.Options{}, paths...)
	if err != nil {
		return nil, err
	}
	return &Table{s, t, slices.Clone(paths)}, nil
}

// ReadTableFrom reads labelled rows from CSV.
func ReadTableFrom(ctx context.Context, s *Schema, r io.Reader) (*Table, error) {
	t, err := dataset.Read(ctx, s.s, dataset.Options{Stdin: r}, "-")
	if err != nil {
		return nil, err
	}
	return &Table{s, t, []string{"-"}}, nil
}

// TableOf makes a table of a slice of structs. A column is the exported field with
// the tag `discreet:"name"`, else the one with its name; fields of neither are
// refused unless tagged `discreet:"-"`. A field is a string, an integer, a float, a
// bool or a pointer to one, nil where it is missing; where no field is the label
// the table has none, and is for prediction.
func TableOf[T any](s *Schema, rows []T) (*Table, error) {
	fields, names, err := structFields(s, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	b, err := dataset.NewBuilder(context.Background(), s.s, names)
	if err != nil {
		return nil, err
	}
	cells := make([]dataset.Cell, len(fields))
	for i := range rows {
		v := reflect.ValueOf(&rows[i]).Elem()
		for k, at := range fields {
			cells[k] = cellOf(v.FieldByIndex(at))
		}
		if err := b.Add(cells); err != nil {
			return nil, err
		}
	}
	return finishTable(s, b)
}

// TableOfRows makes a table of rows of text, as a CSV file would spell them: a cell
// for each of s.Columns(), in order, the label among them.
func TableOfRows(s *Schema, rows iter.Seq[[]string]) (*Table, error) {
	b, err := dataset.NewBuilder(context.Background(), s.s, s.Columns())
	if err != nil {
		return nil, err
	}
	var cells []dataset.Cell
	for row := range rows {
		cells = cells[:0]
		for _, text := range row {
			cells = append(cells, dataset.TextCell(text))
		}
		if err := b.Add(cells); err != nil {
			return nil, err
		}
	}
	return finishTable(s, b)
}

// TableFromSQL makes a table of the rest of a query's rows, and closes it; columns
// are matched by name, NULL is a missing cell, and without the label among them the
// table is for prediction.
func TableFromSQL(ctx context.Context, s *Schema, rows *sql.Rows) (_ *Table, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	b, err := dataset.NewBuilder(ctx, s.s, names)
	if err != nil {
		return nil, err
	}
	values, into, cells := make([]any, len(names)), make([]any, len(names)), make([]dataset.Cell, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, v := range values {
			if cells[i], err = cellOfSQL(v); err != nil {
				return nil, &dp.ParamError{Op: "table", Param: fmt.Sprintf("column %q", names[i]), Want: "must be text, a number, a truth value or a time", Got: fmt.Sprintf("%T", v)}
			}
		}
		if err := b.Add(cells); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return finishTable(s, b)
}

func finishTable(s *Schema, b *dataset.Builder) (*Table, error) {
	t, err := b.Table()
	if err != nil {
		return nil, err
	}
	return &Table{s: s, t: t}, nil
}

// structFields finds the field of each column of s in a struct.
func structFields(s *Schema, t reflect.Type) (fields [][]int, names []string, err error) {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "table", Param: param, Want: want, Got: got}
	}
	if t.Kind() != reflect.Struct {
		return nil, nil, refuse("rows", "must be a slice of structs", t)
	}
	known := s.Columns()
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
		switch {
		case !slices.Contains(known, name):
			return nil, nil, refuse("field "+f.Name, `must be a column of the schema, or have the tag discreet:"-"`, strconv.Quote(name))
		case slices.Contains(names, name):
			return nil, nil, refuse("field "+f.Name, "must not be a column that another field is", strconv.Quote(name))
		case !isCellKind(kind.Kind()):
			return nil, nil, refuse("field "+f.Name, "must be a string, a number or a bool, or a pointer to one", f.Type)
		case len(f.Index) > 1 && hasPointer(t, f.Index[:len(f.Index)-1]):
			return nil, nil, refuse("field "+f.Name, "must not be in an embedded pointer", f.Type)
		}
		fields, names = append(fields, f.Index), append(names, name)
	}
	return fields, names, nil
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

func cellOf(v reflect.Value) dataset.Cell {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return dataset.Cell{}
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.String:
		return dataset.TextCell(v.String())
	case v.Kind() == reflect.Bool:
		return dataset.TruthCell(v.Bool())
	case v.CanInt():
		return integerCell(v.Int())
	case v.CanUint():
		return dataset.TextCell(strconv.FormatUint(v.Uint(), 10))
	}
	return dataset.NumberCell(v.Float())
}

// integerCell keeps all digits of integers that a float64 does not hold: they may
// be a category's.
func integerCell(x int64) dataset.Cell {
	if f := float64(x); int64(f) == x {
		return dataset.NumberCell(f)
	}
	return dataset.TextCell(strconv.FormatInt(x, 10))
}

func cellOfSQL(v any) (dataset.Cell, error) {
	switch v := v.(type) {
	case nil:
		return dataset.Cell{}, nil
	case string:
		return dataset.TextCell(v), nil
	case []byte:
		return dataset.TextCell(string(v)), nil
	case int64:
		return integerCell(v), nil
	case float64:
		return dataset.NumberCell(v), nil
	case bool:
		return dataset.TruthCell(v), nil
	case time.Time:
		return dataset.TextCell(v.Format(time.RFC3339Nano)), nil
	}
	return dataset.Cell{}, errors.ErrUnsupported
}
