// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/pages"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CellOf converts a value of any type to a cell. ok is false if values of its type are no cells.
func CellOf(value any) (cell coding.Cell, ok bool) {
	if value == nil {
		return coding.Cell{}, true
	}
	cell = cellOf(reflect.ValueOf(value))
	return cell, cell != coding.UnknownCell()
}

// cellOf converts a value to a cell. A value of a type that has no cell is an unknown one. It is not
// refused, because some databases have a type per value and not per column, so that an error would
// reveal something about a cell.
func cellOf(v reflect.Value) coding.Cell {
	kind := v.Kind()
	switch kind {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return coding.Cell{}
		}
		return cellOf(v.Elem())
	case reflect.Struct: // which may have methods of a pointer alone
		copied := reflect.New(v.Type())
		copied.Elem().Set(v)
		return methodCell(copied, decimalCell(v))
	}
	cell := plainCell(v)
	if v.NumMethod() > 0 {
		return methodCell(v, cell)
	}
	return cell
}

// decimalCell converts a struct of a width, a scale and the digits as an integer, as DuckDB's drivers
// have a decimal.
func decimalCell(v reflect.Value) coding.Cell {
	if v.NumField() != 3 || v.Field(0).Kind() != reflect.Uint8 || v.Field(1).Kind() != reflect.Uint8 {
		return coding.UnknownCell()
	}
	whole := v.Field(2)
	if !whole.CanInt() && (whole.Type() != reflect.TypeFor[*big.Int]() || whole.IsNil()) {
		return coding.UnknownCell()
	}
	return coding.DecimalCell(string(pages.AppendPoint(nil, fmt.Append(nil, whole), int(v.Field(1).Uint()))))
}

// plainCell converts a value by its kind.
func plainCell(v reflect.Value) coding.Cell {
	switch kind := v.Kind(); {
	case kind == reflect.String:
		return coding.TextCell(v.String())
	case kind == reflect.Bool:
		return coding.TruthCell(v.Bool())
	case v.CanInt():
		return coding.IntegerCell(v.Int())
	case kind != reflect.Uintptr && v.CanUint():
		return coding.UnsignedCell(v.Uint())
	case kind == reflect.Float32:
		return coding.SingleCell(float32(v.Float()))
	case kind == reflect.Float64:
		return coding.NumberCell(v.Float())
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		if v.IsNil() {
			return coding.Cell{}
		}
		return coding.TextCell(string(v.Bytes()))
	case isUUID(v.Type()):
		b := make([]byte, v.Len())
		for i := range b {
			b[i] = byte(v.Index(i).Uint())
		}
		return coding.TextCell(uuidText(b))
	}
	return coding.UnknownCell()
}

// methodCell converts a value by its methods, if it has any that say what it is; plain is its cell if
// it has none.
func methodCell(v reflect.Value, plain coding.Cell) coding.Cell {
	switch special := v.Interface().(type) {
	case *time.Time:
		_, east := special.Zone()
		return coding.InstantCell(special.Unix(), east)
	case json.Number:
		if cell, ok := coding.ParseNumber(special.String()); ok {
			return cell
		}
		return coding.UnknownCell()
	case *big.Float:
		x, _ := special.Float64()
		return coding.NumberCell(x)
	case *big.Rat:
		x, _ := special.Float64()
		return coding.NumberCell(x)
	case driver.Valuer:
		of, err := special.Value()
		if _, again := of.(driver.Valuer); err != nil || again {
			return coding.UnknownCell()
		}
		if text, ok := of.(string); ok {
			if _, ok := special.(fmt.Stringer); ok { // a number's; else it is a text of the schema's dialect
				return spelt(text, coding.TextCell(text))
			}
		}
		cell, _ := CellOf(of)
		return cell
	case fmt.Stringer:
		if v.Kind() == reflect.Pointer { // to a struct
			return spelt(special.String(), plain)
		}
	}
	return plain
}

// spelt returns the exact number that a text is, or else another cell.
func spelt(text string, other coding.Cell) coding.Cell {
	if _, ok := coding.ParseDecimal(text); ok {
		return coding.DecimalCell(text)
	}
	return other
}

func isUUID(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
}

func uuidText(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// typeOf returns what a Go type says of a column: Any if its cells say it.
func typeOf(t reflect.Type) coding.Type {
	out := coding.Type{Name: t.String(), Form: coding.Any}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	is := func(of reflect.Type) bool { return t.Implements(of) || reflect.PointerTo(t).Implements(of) }
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		out.Form = coding.Instant
	case t == reflect.TypeFor[big.Int]():
		out.Form = coding.Decimal
	case kind == reflect.Struct && t.PkgPath() == "database/sql" && t.NumField() == 2: // sql.NullInt64 and its like
		inner := typeOf(t.Field(0).Type)
		inner.Name = out.Name
		return inner
	case t == reflect.TypeFor[json.Number](), kind == reflect.Interface, is(reflect.TypeFor[driver.Valuer]()),
		kind == reflect.Struct && is(reflect.TypeFor[fmt.Stringer]()), t == reflect.TypeFor[big.Float]():
	case kind == reflect.String, kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8, isUUID(t):
		out.Form, out.Words = coding.Text, isUUID(t)
	case kind == reflect.Bool:
		out.Form = coding.Truth
	case kind == reflect.Float32:
		out.Form = coding.Single
	case kind == reflect.Float64:
		out.Form = coding.Float
	case kind >= reflect.Int && kind <= reflect.Int64:
		out.Form, out.Least, out.Most = coding.Integer, -1<<(t.Bits()-1), 1<<(t.Bits()-1)-1
	case kind >= reflect.Uint && kind <= reflect.Uint32 && t.Bits() < 64:
		out.Form, out.Most = coding.Integer, 1<<t.Bits()-1
	case kind == reflect.Uint || kind == reflect.Uint64:
		out.Form = coding.Decimal
	default:
		out.Form = coding.Unknown
	}
	return out
}

// sqlColumn is a column of a query.
type sqlColumn struct {
	declared coding.Form
	isDay    bool // its times are days
	isUUID   bool
	isDate   bool // the schema declares a date
}

// columnsOf refuses columns whose declared types cannot carry what the schema declares. It goes by the
// database's names of types, because what a driver calls the type of a scan may be that of a cell.
func columnsOf(s *schema.Schema, rows *sql.Rows) ([]sqlColumn, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	out := make([]sqlColumn, len(types))
	for i, t := range types {
		coder, err := coderOf(s, t.Name())
		if err != nil {
			return nil, err
		}
		declared := declaredType(t)
		if want := cannotCarry(coder, declared); want != "" {
			return nil, &dp.ParamError{Op: "table", Param: fmt.Sprintf("column %q", t.Name()), Want: want, Got: declared.Name}
		}
		out[i] = sqlColumn{declared: declared.Form, isDay: declared.Form == coding.Day, isUUID: declared.Name == "UUID",
			isDate: coder != nil && coder.IsDate()}
	}
	return out, nil
}

// cellOf converts a value that a driver delivers, which may be the text of a decimal, a date or a UUID.
func (c *sqlColumn) cellOf(value any) coding.Cell {
	text, isText := value.(string)
	if b, ok := value.([]byte); ok && b != nil {
		text, isText = string(b), true
	}
	switch at, isTime := value.(time.Time); {
	case isTime && c.isDay:
		day, _ := schema.ParseDate("YYYY-MM-DD", at.Format(time.DateOnly))
		return coding.DayCell(day)
	case isText && c.isUUID && len(text) == 16:
		return coding.TextCell(uuidText([]byte(text)))
	case isText && c.declared == coding.Decimal:
		return spelt(text, coding.TextCell(text))
	case isText && c.isDate && (c.declared == coding.Day || c.declared == coding.Instant):
		if day, ok := schema.ParseDate("YYYY-MM-DD", text); ok { // as databases write dates
			return coding.DayCell(day)
		}
	}
	cell, _ := CellOf(value)
	return cell
}

// declaredType interprets the database's name of a column's type. Names mean the same in the databases
// whose drivers have them, but for the sizes of integers and floats, which do not matter here.
func declaredType(t *sql.ColumnType) coding.Type {
	out := coding.Type{Name: t.DatabaseTypeName(), Form: coding.Any, Scale: -1}
	name := strings.ToUpper(out.Name)
	for _, around := range []string{"LOWCARDINALITY(", "NULLABLE("} { // of ClickHouse
		if inner, ok := strings.CutPrefix(name, around); ok {
			name = strings.TrimSuffix(inner, ")")
		}
	}
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.HasPrefix(name, part) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasSuffix(name, "]"), has("_", "ARRAY", "LIST", "MAP", "STRUCT", "TUPLE", "NESTED"):
		out.Form = coding.Unknown
	case has("INTERVAL", "POINT"), strings.Contains(name, "RANGE"):
	case strings.Contains(name, "INT") || has("SERIAL"): // of any size
		out.Form, out.Scale = coding.Decimal, 0
	case has("NUMERIC", "DECIMAL", "NUMBER"):
		out.Form = coding.Decimal
		if _, scale, ok := t.DecimalSize(); ok && scale >= 0 && scale < 1000 {
			out.Scale = int(scale)
		}
	case has("FLOAT", "DOUBLE", "REAL"):
		out.Form = coding.Float
	case has("BOOL"):
		out.Form = coding.Truth
	case has("TIMESTAMP", "DATETIME"):
		out.Form = coding.Instant
	case has("DATE"):
		out.Form = coding.Day
	}
	return out
}
