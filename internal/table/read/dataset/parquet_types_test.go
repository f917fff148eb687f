// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

var typesFile = filepath.Join("testdata", "types", "duckdb.parquet")

// typedTable is testdata/types/same.csv: its names, its rows, and a schema of the columns that are read.
func typedTable(t *testing.T, read func(name string) bool) (*schema.Schema, string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "types", "same.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	zero := -1.0
	s := &schema.Schema{Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Missing: []string{""}},
		Label: schema.Label{Name: "label", Role: schema.Private, Levels: []schema.Level{{Value: "a"}, {Value: "b"}}}}
	var picked []int
	for k, name := range rows[0] {
		c := schema.Column{Name: name, Role: schema.Private, Kind: schema.Number, Lower: -1e20, Upper: 1e40, Default: &zero}
		switch name {
		case "label":
			picked = append(picked, k)
			continue
		case "day", "ms", "us", "ns", "utc":
			c.Date, c.Lower, c.Upper = "YYYY-MM-DD", -1e6, 1e6
		case "code", "huge", "f32", "u64", "id", "truth":
			c.Kind, c.Missing = schema.Category, true
			for _, row := range rows[1:] {
				if cell := row[k]; cell != "" && !slices.ContainsFunc(c.Levels, func(l schema.Level) bool { return l.Value == cell }) {
					c.Levels = append(c.Levels, schema.Level{Value: cell})
				}
			}
		}
		if read(name) {
			s.Columns, picked = append(s.Columns, c), append(picked, k)
		}
	}
	s.Label.Position = len(s.Columns)
	var text strings.Builder
	for _, row := range rows {
		for i, k := range picked {
			text.WriteString([]string{",", ""}[max(0, 1-i)] + row[k])
		}
		text.WriteByte('\n')
	}
	return s, writeFile(t, "same.csv", text.String())
}

// TestTypesOfParquet reads files of two writers, with a column of each type that has cells, as the same
// table in text: exact decimals of every size, times to the day, and integers beyond int64.
func TestTypesOfParquet(t *testing.T) {
	for _, name := range []string{"pyarrow", "old", "duckdb"} {
		path := filepath.Join("testdata", "types", name+".parquet")
		names, err := ReadHeader(t.Context(), path, schema.Dialect{})
		if err != nil {
			t.Fatal(err)
		}
		s, text := typedTable(t, func(column string) bool { return slices.Contains(names, column) })
		want, err := Read(t.Context(), s, Options{}, text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), s, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want.Cols {
			if !reflect.DeepEqual(got.Cols[j], want.Cols[j]) {
				t.Errorf("%s: column %s is %+v, want %+v as from text", name, s.Columns[j].Name, got.Cols[j], want.Cols[j])
			}
		}
		if !reflect.DeepEqual(got.Labels, want.Labels) {
			t.Errorf("%s: labels %v, want %v", name, got.Labels, want.Labels)
		}
		// A copy, in either format, is the same table again.
		for _, form := range []Format{CSV, Parquet} {
			copied := filepath.Join(t.TempDir(), map[Format]string{CSV: "copy.csv", Parquet: "copy.parquet"}[form])
			f, err := os.Create(copied)
			if err != nil {
				t.Fatal(err)
			}
			if err := CopyRows(t.Context(), s, Options{}, f, form, nil, nil, path); err != nil {
				t.Fatal(err)
			}
			f.Close()
			if again, err := Read(t.Context(), s, Options{}, copied); err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("%s copied to %v is another table, error %v", name, form, err)
			}
		}
	}
}

// Instants have the day of the schema's zone, also in a copy as text; times without a zone have their own.
func TestZonesOfParquet(t *testing.T) {
	for _, name := range []string{"utc", "us"} {
		s, _ := typedTable(t, func(column string) bool { return column == name })
		s.Columns[0].Zone = "Asia/Tokyo"
		days := func(path string) (days []string) {
			tab, err := Read(t.Context(), s, Options{Extra: ExtraDropped}, path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range tab.Rows {
				c := &tab.Cols[0]
				days = append(days, schema.FormatDate("YYYY-MM-DD", int(c.Values[c.Codes.At(i)])))
			}
			return days
		}
		copied, err := os.Create(filepath.Join(t.TempDir(), "copy.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if err := CopyRows(t.Context(), s, Options{Extra: ExtraDropped}, copied, CSV, nil, nil, typesFile); err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{"utc": {"2020-03-01", "1970-01-01", "1969-12-31", "1970-01-01", "2262-04-11"},
			"us": {"2020-02-29", "1969-12-31", "1969-12-31", "1970-01-01", "2262-04-11"}}[name]
		for _, path := range []string{typesFile, copied.Name()} {
			if got := days(path); !slices.Equal(got, want) {
				t.Errorf("%s: days of %s are %v, want %v", path, name, got, want)
			}
		}
	}
}

// pandas' NaT is a missing cell where a writer kept it as a number.
func TestTimesThatAreNone(t *testing.T) {
	type stay struct {
		Utc   int64            `parquet:"utc,timestamp(nanosecond)"`
		Us    deprecated.Int96 `parquet:"us"`
		Label string           `parquet:"label"`
	}
	none := func(days uint32, nanos uint64) deprecated.Int96 {
		return deprecated.Int96{uint32(nanos), uint32(nanos >> 32), days}
	}
	path := writeParquet(t, []stay{{math.MinInt64, none(2440588-106752, 763_145_224_192), "a"}, {0, none(2440588, 1), "a"}})
	s, _ := typedTable(t, func(column string) bool { return column == "utc" || column == "us" })
	tab, err := Read(t.Context(), s, Options{}, path)
	if err != nil {
		t.Fatal(err)
	}
	for j := range tab.Cols {
		for i, want := range []float64{-1, 0} { // the default, and 1970-01-01
			if c := &tab.Cols[j]; c.Values[c.Codes.At(i)] != want {
				t.Errorf("row %d of %s is day %g, want %g", i, s.Columns[j].Name, c.Values[c.Codes.At(i)], want)
			}
		}
	}
}

// TestConvertedTypes reads a file whose logical types are taken out, as old writers have none.
func TestConvertedTypes(t *testing.T) {
	old := func(name string) bool { return !slices.Contains([]string{"ns", "id", "huge", "f16", "ms", "us"}, name) }
	data := edited(t, typesFile, func(m *format.FileMetaData) {
		for i := range m.Schema {
			e := &m.Schema[i]
			if e.LogicalType.Value = nil; e.Name == "utc" {
				e.ConvertedType.V, e.ConvertedType.Valid = deprecated.TimestampMicros, true
			}
		}
	})
	s, text := typedTable(t, old)
	want, err := Read(t.Context(), s, Options{}, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ms", "us", "ns", "id"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Role: schema.Ignored})
	}
	got, err := Read(t.Context(), s, Options{}, writeFile(t, "old.parquet", string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for j := range want.Cols {
		if !reflect.DeepEqual(got.Cols[j], want.Cols[j]) {
			t.Errorf("column %s is %+v, want %+v as from text", s.Columns[j].Name, got.Cols[j], want.Cols[j])
		}
	}
}

// Every combination of a physical and a logical type is read or refused by name, and nothing of it ends
// the program.
func TestEveryTypeOfParquet(t *testing.T) {
	utc := func(u format.TimeUnitValue) format.TimeUnit { return format.TimeUnit{Value: u} }
	for _, logical := range []format.LogicalTypeValue{nil, new(format.StringType), new(format.MapType), new(format.ListType),
		new(format.EnumType), &format.DecimalType{Scale: 2, Precision: 9}, &format.DecimalType{Scale: -1, Precision: 9},
		&format.DecimalType{Scale: 1 << 30, Precision: 1 << 30}, new(format.DateType), &format.TimeType{Unit: utc(new(format.MicroSeconds))},
		&format.TimestampType{Unit: utc(new(format.NanoSeconds))}, new(format.TimestampType), &format.IntType{BitWidth: 8, IsSigned: true},
		&format.IntType{BitWidth: -7}, new(format.NullType), new(format.JsonType), new(format.BsonType), new(format.UUIDType),
		new(format.Float16Type), new(format.VariantType), new(format.GeometryType)} {
		for _, kind := range []format.Type{format.Boolean, format.Int32, format.Int64, format.Int96, format.Float, format.Double,
			format.ByteArray, format.FixedLenByteArray, 8, -1} {
			for i, length := range []int32{16, -1, 0, 2, 1 << 30} {
				if i > 0 && kind != format.FixedLenByteArray {
					break
				}
				file := edited(t, typesFile, func(m *format.FileMetaData) {
					for i := range m.Schema {
						if e := &m.Schema[i]; e.Name == "code" {
							e.LogicalType.Value, e.Type.V, e.TypeLength.V = logical, kind, length
							e.ConvertedType.Valid = false
						}
					}
					for i := range m.RowGroups[0].Columns {
						if c := &m.RowGroups[0].Columns[i].MetaData; slices.Equal(c.PathInSchema, []string{"code"}) {
							c.Type = kind
						}
					}
				})
				s, _ := typedTable(t, func(name string) bool { return name == "code" })
				s.Columns[0].Kind, s.Columns[0].Lower, s.Columns[0].Upper = schema.Number, 0, 1
				s.Columns[0].Date = []string{"", "YYYYMMDD"}[int(kind)&1]
				_, err := ReadParquet(t.Context(), s, Options{Extra: ExtraDropped}, "t.parquet", file)
				if fault, ok := err.(*FaultError); err != nil && !ok || ok && fault.Column != "code" {
					t.Fatalf("%v of %v(%d): %v", logical, kind, length, err)
				}
			}
		}
	}
}

// Types without cells are refused before any row is read, with the type's name and a way out.
func TestTypesWithoutCells(t *testing.T) {
	for _, row := range []struct {
		logical format.LogicalTypeValue
		old     int // converted type; -1 if there is none
		want    []string
	}{
		{&format.TimeType{Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}, -1, []string{"TIME(us, local)", `epoch("dec18")`}},
		{nil, int(deprecated.TimeMicros), []string{"TIME(us, UTC)", `epoch("dec18")`}},
		{nil, int(deprecated.Interval), []string{"INTERVAL", `epoch("dec18")`}},
		{new(format.BsonType), -1, []string{"BSON", `CAST("dec18" AS VARCHAR)`}},
		{new(format.ListType), -1, []string{"LIST", `"dec18"[1]`}},
	} {
		file := edited(t, typesFile, func(m *format.FileMetaData) {
			for i := range m.Schema {
				if e := &m.Schema[i]; e.Name == "dec18" {
					e.LogicalType.Value = row.logical
					e.ConvertedType.V, e.ConvertedType.Valid = deprecated.ConvertedType(row.old), row.old >= 0
				}
			}
		})
		s, _ := typedTable(t, func(name string) bool { return name == "dec18" })
		_, err := ReadParquet(t.Context(), s, Options{Extra: ExtraDropped}, "t.parquet", file)
		for _, want := range append(row.want, "dec18") {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%v, %d: error %v lacks %s", row.logical, row.old, err, want)
			}
		}
	}
}
