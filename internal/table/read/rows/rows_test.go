// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// typedDriver delivers values as drivers of typed databases do, which are not driver.Values alone.
type typedDriver struct {
	names, types []string
	rows         [][]any
}

func (d *typedDriver) Open(string) (driver.Conn, error)    { return d, nil }
func (d *typedDriver) Prepare(string) (driver.Stmt, error) { return typedStatement{d}, nil }
func (d *typedDriver) Close() error                        { return nil }
func (d *typedDriver) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (d *typedDriver) query(t *testing.T, name string) *sql.Rows {
	t.Helper()
	sql.Register(name, d)
	db, err := sql.Open(name, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	rows, err := db.Query("")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

type typedStatement struct{ d *typedDriver }

func (typedStatement) Close() error                               { return nil }
func (typedStatement) NumInput() int                              { return 0 }
func (typedStatement) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (s typedStatement) Query([]driver.Value) (driver.Rows, error) {
	return &typedRows{typedDriver: s.d}, nil
}

type typedRows struct {
	*typedDriver
	at int
}

func (r *typedRows) Columns() []string { return r.names }
func (r *typedRows) Close() error      { return nil }
func (r *typedRows) ColumnTypeDatabaseTypeName(i int) string {
	if r.types == nil {
		return ""
	}
	return r.types[i]
}
func (r *typedRows) Next(to []driver.Value) error {
	if r.at == len(r.rows) {
		return io.EOF
	}
	for i, v := range r.rows[r.at] {
		to[i] = v
	}
	r.at++
	return nil
}

// exact is a decimal as drivers have it.
type exact struct {
	scale int
	value *big.Int
}

func (d exact) String() string {
	digits := d.value.String()
	return digits[:len(digits)-d.scale] + "." + digits[len(digits)-d.scale:]
}

// valued is a decimal that is a text to database/sql.
type valued struct{ text string }

func (d valued) Value() (driver.Value, error) { return d.text, nil }
func (d valued) String() string               { return d.text }

type code string
type count int16

func parsed(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte("name: typed\nunit: one row\nrelation: replace-one\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const typedColumns = `file: {delimiter: ",", quote: '"', header: true, missing: ["", "-99"]}
columns:
  - {name: x, role: private, number: {lower: -1000, upper: 1000, default: 7}}
  - {name: c, role: private, category: {levels: ["0", "1", "12", "200", "0.5", "250.00", "18446744073709551615", "9007199254740993",
      "00112233-4455-6677-8899-aabbccddeeff", "true"]}}
  - {name: d, role: private, date: {format: DD.MM.YYYY, lower: 2000-01-01, upper: 2030-12-31, default: 2010-01-01}}
  - {name: y, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
`

// Every value of a driver or of a program is the cell that its text is.
func TestValuesAreTheirTexts(t *testing.T) {
	s := parsed(t, typedColumns)
	day := time.Date(2020, 2, 29, 23, 30, 0, 0, time.FixedZone("", 3600))
	twelve, twelveAgain := int32(12), count(12)
	pointer := &twelve
	uuid := [16]byte{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	var values [][]any
	text := "x,c,d,y\n"
	for _, c := range []struct {
		value any
		text  string
	}{
		{nil, ""}, {"12", "12"}, {[]byte("12"), "12"}, {[]byte(nil), ""}, {code("200"), "200"}, {true, "true"},
		{int8(12), "12"}, {int16(200), "200"}, {int32(12), "12"}, {int64(200), "200"}, {int(12), "12"}, {uint8(200), "200"},
		{uint16(12), "12"}, {uint32(12), "12"}, {uint64(1<<64 - 1), "18446744073709551615"}, {int64(1<<53 + 1), "9007199254740993"},
		{float32(0.5), "0.5"}, {0.5, "0.5"}, {float32(12), "12"}, {twelveAgain, "12"}, {&twelve, "12"}, {&pointer, "12"},
		{(*int32)(nil), ""}, {exact{2, big.NewInt(25000)}, "250.00"}, {&exact{2, big.NewInt(25000)}, "250.00"},
		{struct {
			Width, Scale uint8
			Value        *big.Int
		}{18, 2, big.NewInt(25000)}, "250.00"}, {struct {
			Width, Scale uint8
			Value        int64
		}{18, 1, 5}, "0.5"}, {valued{"250.00"}, "250.00"}, {&valued{"250.00"}, "250.00"}, {big.NewInt(200), "200"}, {big.NewRat(1, 2), "0.5"},
		{big.NewFloat(0.5), "0.5"}, {*big.NewInt(200), "200"}, {json.Number("12"), "12"}, {json.Number("0.5"), "0.5"},
		{json.Number("9007199254740993"), "9007199254740993"}, {uuid, "00112233-4455-6677-8899-aabbccddeeff"},
		{sql.NullInt32{Int32: 12, Valid: true}, "12"}, {sql.NullInt32{}, ""}, {sql.Null[uint8]{V: 200, Valid: true}, "200"},
		{sql.NullString{String: "200", Valid: true}, "200"}, {-99, "-99"}, {day, "29.02.2020"}, {&day, "29.02.2020"},
		{sql.NullTime{Time: day, Valid: true}, "29.02.2020"},
		// Values that are no cells.
		{[]int{12}, "?"}, {map[string]any{"a": 1}, "?"}, {struct{ W, S uint8 }{18, 2}, "?"}, {complex(1, 2), "?"}, {time.UTC, "?"},
	} {
		values = append(values, []any{c.value, c.value, c.value, "yes"})
		text += strings.Repeat(c.text+",", 3) + "yes\n"
	}
	want, err := dataset.Read(t.Context(), s, dataset.Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	got, err := OfSQL(t.Context(), s, (&typedDriver{names: Names(s), rows: values}).query(t, "values"))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range values {
		for j := range want.Cols {
			w, g := &want.Cols[j], &got.Cols[j]
			if at, to := w.Codes.At(i), g.Codes.At(i); at != to || len(w.Values) > 0 && w.Values[at] != g.Values[to] {
				t.Errorf("%T %v in %s is code %d, want %d", row[0], row[0], s.Columns[j].Name, to, at)
			}
		}
	}
}

// What a query's types declare is used, and refused where it cannot carry what the schema declares.
func TestDeclaredTypesOfQueries(t *testing.T) {
	s, few := parsed(t, typedColumns), parsed(t, typedColumns)
	few.Columns[1].Levels = []schema.Level{{Value: "12"}, {Value: "250.00"}} // which a decimal can be
	s.Columns[2].Zone, few.Columns[2].Zone = "America/New_York", "America/New_York"
	midnight := time.Date(2020, 2, 29, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		types string
		row   []any
		text  string // of the same table; "" if it is refused
		want  string // part of the refusal
	}{
		{"NUMERIC,NUMERIC,DATE,TEXT", []any{"1.5", []byte("250.00"), midnight, "yes"}, "1.5,250.00,29.02.2020", ""},
		{"Nullable(Int32),UNKNOWN,DATE,", []any{int32(3), "12", "2020-02-29", "yes"}, "3,12,29.02.2020", ""},
		{"DOUBLE,ENUM,TIMESTAMP WITH TIME ZONE,", []any{3.5, "12", midnight, "yes"}, "3.5,12,28.02.2020", ""},
		{"DOUBLE,ENUM,DATETIME,", []any{3.5, "12", []byte("2020-02-29 10:11:12"), "yes"}, "3.5,12,29.02.2020", ""},
		{"DOUBLE,VARCHAR,VARCHAR,", []any{3.5, "12", "29.02.2020", "yes"}, "3.5,12,29.02.2020", ""},
		{",UUID,,", []any{3.5, []byte("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"), midnight, "yes"},
			"3.5,00112233-4455-6677-8899-aabbccddeeff,28.02.2020", ""},
		{"DOUBLE,BIGINT,DATE,TEXT", nil, "", "BIGINT cannot"},
		{"DOUBLE,DOUBLE,DATE,TEXT", nil, "", "DOUBLE cannot"},
		{"DOUBLE,BOOLEAN,DATE,TEXT", nil, "", "BOOLEAN cannot"},
		{"DATE,TEXT,DATE,TEXT", nil, "", "DATE cannot"},
		{"INTEGER[],TEXT,DATE,TEXT", nil, "", "INTEGER[] cannot"},
		{"Array(Int8),TEXT,DATE,TEXT", nil, "", "Array(Int8) cannot"},
		{"DOUBLE,TEXT,INTEGER,TEXT", nil, "", "days: true"},
		{"DOUBLE,TEXT,DATE,INT4", nil, "", `column "y"`},
	} {
		d := &typedDriver{names: Names(s), types: strings.Split(c.types, ",")}
		if c.row != nil {
			d.rows = [][]any{c.row}
		}
		s := s
		if strings.Contains(c.types, "NUMERIC,NUMERIC") {
			s = few
		}
		got, err := OfSQL(t.Context(), s, d.query(t, fmt.Sprint("declared", i)))
		if c.row == nil {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.types, err, c.want)
			}
			continue
		}
		want, wrong := dataset.Read(t.Context(), s, dataset.Options{Stdin: strings.NewReader("x,c,d,y\n" + c.text + ",yes\n")}, "-")
		if err != nil || wrong != nil || !reflect.DeepEqual(got.Cols, want.Cols) {
			t.Errorf("%s: %+v, error %v; want %s", c.types, got, err, c.text)
		}
	}
}

// Fields of structs are declared types, too.
func TestFieldTypes(t *testing.T) {
	s := parsed(t, typedColumns)
	type good struct {
		X valued              `discreet:"x"`
		C *string             `discreet:"c"`
		D sql.Null[time.Time] `discreet:"d"`
		Y any                 `discreet:"y"`
	}
	twelve := "12"
	got, err := OfStructs(s, []good{{valued{"1.50"}, &twelve, sql.Null[time.Time]{}, "yes"}})
	want, wrong := dataset.Read(t.Context(), s, dataset.Options{Stdin: strings.NewReader("x,c,d,y\n1.5,12,,yes\n")}, "-")
	if err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, error %v; want %+v", got, err, want)
	}
	for name, fields := range map[string]any{
		"int8": struct {
			C int8 `discreet:"c"`
		}{},
		"sql.NullInt64": struct {
			C sql.NullInt64 `discreet:"c"`
		}{},
		"uint64": struct {
			C *uint64 `discreet:"c"`
		}{},
		"float64": struct {
			C float64 `discreet:"c"`
		}{},
		"bool": struct {
			C bool `discreet:"c"`
		}{},
		"time.Time": struct {
			X time.Time `discreet:"x"`
		}{},
		"[]string": struct {
			X []string `discreet:"x"`
		}{},
		"int": struct {
			D int `discreet:"d"`
		}{},
		"int32": struct {
			Y int32 `discreet:"y"`
		}{},
	} {
		_, err := FieldsOf(s, reflect.TypeOf(fields), false)
		if err == nil || !strings.Contains(err.Error(), name+" cannot") || !strings.Contains(err.Error(), "field ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
