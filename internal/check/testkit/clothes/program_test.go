// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"io"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/explorer/engine"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/read/rows"
)

func programForms() []form {
	exact := []Type{{Form: coding.Float}, {Form: coding.Truth}, {Form: coding.Day}, {Form: coding.Instant}, {Form: coding.Integer, Bits: 64, Unsigned: true},
		{Form: coding.Decimal, Precision: 38, Scale: 6}, {Form: coding.Decimal, Precision: 38}}
	return []form{
		{name: "values of a Go driver", own: true, offered: Types()[1:], read: func(k *kit, t *Table) (*dataset.Table, error) { return query(k, t, false) }},
		{name: "columns of a Go driver", refuses: true, offered: exact, read: func(k *kit, t *Table) (*dataset.Table, error) { return query(k, t, true) }},
		{name: "maps", own: true, offered: Types()[1:], score: func(k *kit, t *Table, m *model.Model) ([]float64, error) {
			return predict(k, t, m, func(p *discreet.Predictor, r int) (score float64, err error) {
				row := map[string]any{}
				for j, c := range t.Columns {
					if m.Schema.Find(c.Name) >= 0 && c.Kind != Person && c.Kind != Ignored {
						row[c.Name] = goValue(k, c.Kind, t.Values[r][j])
					}
				}
				_, score, err = p.PredictMap(row)
				return score, err
			})
		}},
		{name: "structs", refuses: true, offered: structTypes(), score: func(k *kit, t *Table, m *model.Model) ([]float64, error) {
			var fields []reflect.StructField
			for j, c := range t.Columns {
				fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(j), Tag: reflect.StructTag(`discreet:"` + c.Name + `"`),
					Type: reflect.PointerTo(structType(t.Types[j]))})
			}
			of := reflect.StructOf(fields)
			return predict(k, t, m, func(p *discreet.Predictor, r int) (score float64, err error) {
				row := reflect.New(of).Elem()
				for j := range t.Columns {
					if v := t.Values[r][j]; v != nil {
						if day, ok := v.(Day); ok {
							v = time.Unix(int64(day)*86400, 0).UTC()
						}
						at := reflect.New(structType(t.Types[j]))
						at.Elem().Set(reflect.ValueOf(v).Convert(at.Type().Elem()))
						row.Field(j).Set(at)
					}
				}
				_, score, err = p.PredictStruct(row.Interface())
				return score, err
			})
		}},
		{name: "rows of the page", own: true, offered: []Type{{Form: coding.Float}, {Form: coding.Truth}}, score: func(k *kit, t *Table, m *model.Model) (all []float64, err error) {
			file, err := model.Marshal(m)
			k.must(err)
			for r := range t.Rows {
				row := map[string]any{}
				for j, c := range t.Columns {
					row[c.Name] = inJSON(t.Values[r][j])
				}
				args, err := json.Marshal(map[string]any{"model": string(file), "row": row})
				k.must(err)
				found, err := (&engine.Engine{}).Call(context.Background(), "score", args, nil, func(any) {})
				if err != nil {
					return nil, err
				}
				all = append(all, found.(map[string]any)["probability"].(float64))
			}
			return all, nil
		}},
	}
}

// structTypes are the types that a field can have.
func structTypes() (list []Type) {
	for _, t := range Types()[1:] {
		if t.Form != coding.Decimal && t.Form != coding.Day {
			list = append(list, t)
		}
	}
	return list
}

func structType(t Type) reflect.Type {
	switch t.Form {
	case coding.Integer:
		if t.Unsigned {
			return map[int]reflect.Type{8: reflect.TypeFor[uint8](), 16: reflect.TypeFor[uint16](), 32: reflect.TypeFor[uint32](), 64: reflect.TypeFor[uint64]()}[t.Bits]
		}
		return map[int]reflect.Type{8: reflect.TypeFor[int8](), 16: reflect.TypeFor[int16](), 32: reflect.TypeFor[int32](), 64: reflect.TypeFor[int64]()}[t.Bits]
	case coding.Float:
		return reflect.TypeFor[float64]()
	case coding.Single:
		return reflect.TypeFor[float32]()
	case coding.Truth:
		return reflect.TypeFor[bool]()
	case coding.Instant:
		return reflect.TypeFor[time.Time]()
	}
	return reflect.TypeFor[word]()
}

type word string

// predict scores the rows of a table one by one.
func predict(k *kit, t *Table, m *model.Model, of func(p *discreet.Predictor, r int) (float64, error)) (all []float64, err error) {
	file, err := model.Marshal(m)
	k.must(err)
	var public discreet.Model
	k.must(public.UnmarshalBinary(file))
	p, err := public.Predictor()
	k.must(err)
	for r := range t.Rows {
		score, err := of(p, r)
		if err != nil {
			return nil, err
		}
		all = append(all, score)
	}
	return all, nil
}

// goValue is a cell as a value of some Go type that drivers and programs have for it.
func goValue(k *kit, of Kind, v any) any {
	switch v := v.(type) {
	case string:
		return pick[any](k, v, v, []byte(v), word(v), sql.NullString{String: v, Valid: true}, &v)
	case bool:
		return pick[any](k, v, &v, sql.NullBool{Bool: v, Valid: true})
	case float64:
		return pick[any](k, v, &v, sql.NullFloat64{Float64: v, Valid: true})
	case int64:
		list := []any{v, int(v), &v, sql.NullInt64{Int64: v, Valid: true}, big.NewInt(v)}
		if v == int64(int32(v)) {
			list = append(list, int32(v), sql.NullInt32{Int32: int32(v), Valid: true})
		}
		if v == int64(int16(v)) {
			list = append(list, int16(v))
		}
		if v == int64(int8(v)) {
			list = append(list, int8(v))
		}
		return pick(k, list...)
	case uint64:
		list := []any{v, uint(v), &v}
		if v == uint64(uint8(v)) {
			list = append(list, uint8(v), uint16(v), uint32(v))
		}
		return pick(k, list...)
	case Day:
		at := time.Unix(int64(v)*86400, 0).UTC()
		return pick[any](k, at, &at, sql.NullTime{Time: at, Valid: true})
	case Digits:
		whole, rest, _ := strings.Cut(string(v), ".")
		n, _ := new(big.Int).SetString(whole+rest, 10)
		return pick[any](k, decimal{38, uint8(len(rest)), n}, printed{string(v)}, &printed{string(v)})
	case nil:
		return pick[any](k, nil, (*int64)(nil), (*string)(nil), sql.NullInt64{}, sql.NullTime{}, []byte(nil))
	}
	return v
}

// inJSON is a value as JSON can have it.
func inJSON(v any) any {
	if f := reflect.ValueOf(v); v != nil && f.CanFloat() && (math.IsNaN(f.Float()) || math.IsInf(f.Float(), 0)) {
		return nil
	}
	return v
}

// decimal is one of DuckDB, and printed one of most other libraries.
type (
	decimal struct {
		Width, Scale uint8
		Value        *big.Int
	}
	printed struct{ text string }
)

func (p printed) String() string { return p.text }

// query reads a table from a driver, whose columns have types if declared is set.
func query(k *kit, t *Table, declared bool) (*dataset.Table, error) {
	db := sql.OpenDB(&source{k, t, declared})
	defer db.Close()
	found, err := db.QueryContext(k.Context(), "")
	k.must(err)
	return rows.OfSQL(k.Context(), k.s, found)
}

// source is a driver that delivers one table.
type source struct {
	k        *kit
	t        *Table
	declared bool
}

func (s *source) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s *source) Driver() driver.Driver                        { return nil }
func (s *source) Prepare(string) (driver.Stmt, error)          { return nil, io.EOF }
func (s *source) Close() error                                 { return nil }
func (s *source) Begin() (driver.Tx, error)                    { return nil, io.EOF }

func (s *source) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &delivered{s, 0}, nil
}

type delivered struct {
	*source
	row int
}

func (d *delivered) Columns() (names []string) {
	for _, c := range d.t.Columns {
		names = append(names, c.Name)
	}
	return names
}

func (d *delivered) Next(out []driver.Value) error {
	if d.row == len(d.t.Rows) {
		return io.EOF
	}
	for j, v := range d.t.Values[d.row] {
		digits, exact := v.(Digits)
		switch {
		case d.declared && exact:
			out[j] = pick[any](d.k, string(digits), []byte(digits), goValue(d.k, 0, v))
		case d.declared && v == nil:
			out[j] = nil
		default:
			out[j] = goValue(d.k, d.t.Columns[j].Kind, v)
		}
	}
	d.row++
	return nil
}

func (d *delivered) ColumnTypeDatabaseTypeName(j int) string {
	if !d.declared {
		return ""
	}
	return map[coding.Form]string{coding.Text: "TEXT", coding.Float: "DOUBLE", coding.Truth: "BOOLEAN", coding.Day: "DATE", coding.Instant: "TIMESTAMP",
		coding.Integer: "UBIGINT", coding.Decimal: "DECIMAL"}[d.t.Types[j].Form]
}

func (d *delivered) ColumnTypePrecisionScale(j int) (precision, scale int64, ok bool) {
	of := d.t.Types[j]
	return int64(of.Precision), int64(of.Scale), d.declared && of.Form == coding.Decimal
}
