// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// everyType has columns of many types, of which the schema declares x and y.
func everyType() (*parquet.Schema, []string) {
	group := parquet.Group{
		"x": parquet.Leaf(parquet.DoubleType), "y": parquet.String(), "int8": parquet.Int(8), "int32": parquet.Int(32),
		"int64": parquet.Optional(parquet.Int(64)), "uint64": parquet.Uint(64), "day": parquet.Optional(parquet.Date()),
		"cents": parquet.Decimal(2, 9, parquet.Int32Type), "amount": parquet.Optional(parquet.Decimal(2, 18, parquet.Int64Type)),
		"long": parquet.Decimal(4, 30, parquet.FixedLenByteArrayType(13)), "millis": parquet.Timestamp(parquet.Millisecond),
		"micros": parquet.TimestampAdjusted(parquet.Microsecond, false), "nanos": parquet.Optional(parquet.Timestamp(parquet.Nanosecond)),
		"time": parquet.Time(parquet.Microsecond), "uuid": parquet.UUID(), "kind": parquet.Optional(parquet.Enum()), "json": parquet.JSON(),
		"truth": parquet.Leaf(parquet.BooleanType), "float": parquet.Optional(parquet.Leaf(parquet.FloatType)),
		"int96": parquet.Leaf(parquet.Int96Type), "bytes": parquet.Leaf(parquet.ByteArrayType), "list": parquet.Repeated(parquet.Int(64)),
	}
	var names []string
	for _, f := range group.Fields() {
		names = append(names, f.Name())
	}
	return parquet.NewSchema("visits", group), names
}

// rowOf is a row of a schema whose cells depend on k; every fifth optional cell is null.
func rowOf(s *parquet.Schema, k int) (row parquet.Row) {
	for i, path := range s.Columns() {
		leaf, _ := s.Lookup(path...)
		var v parquet.Value
		switch t := leaf.Node.Type(); t.Kind() {
		case parquet.Boolean:
			v = parquet.BooleanValue(k%2 == 0)
		case parquet.Int32:
			v = parquet.Int32Value(int32(k*k - 90))
		case parquet.Int64:
			v = parquet.Int64Value(int64(k)<<54 - 7)
		case parquet.Int96:
			v = parquet.Int96Value(deprecated.Int96{uint32(k), 2, 3})
		case parquet.Float:
			v = parquet.FloatValue(float32(k) / 10)
		case parquet.Double:
			v = parquet.DoubleValue(float64(k) / 7)
		case parquet.FixedLenByteArray:
			v = parquet.FixedLenByteArrayValue(bytes.Repeat([]byte{byte(250 + k)}, t.Length()))
		default:
			v = parquet.ByteArrayValue(fmt.Appendf(nil, "%d-é\xff", k%40))
		}
		if path[0] == "y" {
			v = parquet.ByteArrayValue([]byte([]string{"a", "b"}[k%2]))
		}
		switch {
		case leaf.Node.Repeated() && k%3 > 0:
			row = append(row, v.Level(0, 1, i), v.Level(1, 1, i))
		case leaf.Node.Repeated(), leaf.Node.Optional() && (k+i)%5 == 0:
			row = append(row, parquet.NullValue().Level(0, 0, i))
		case leaf.Node.Optional():
			row = append(row, v.Level(0, 1, i))
		default:
			row = append(row, v.Level(0, 0, i))
		}
	}
	return row
}

// openAll returns the metadata and the rows of a file.
func openAll(t *testing.T, data []byte) (*format.FileMetaData, []parquet.Row) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var all []parquet.Row
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buffer := make([]parquet.Row, g.NumRows()+1)
		n, _ := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			all = append(all, row.Clone())
		}
		rows.Close()
	}
	return f.Metadata(), all
}

// Rows of Parquet that are divided keep the types and the values of every column, also of those that
// the schema ignores.
func TestRowsOfParquetAreCopiedUnchanged(t *testing.T) {
	of, names := everyType()
	text := `{name: v, unit: one visit, relation: replace-one, file: {delimiter: ",", quote: "", header: true}, columns: [
		{name: x, role: private, number: {lower: 0, upper: 9, default: 5}},
		{name: y, role: private, label: {levels: [a, b], positive: a, default: b}}`
	for _, name := range names {
		if name != "x" && name != "y" {
			text += fmt.Sprintf(", {name: %q, role: ignored}", name)
		}
	}
	s, err := schema.Parse([]byte(text + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for part := range 2 {
		path := filepath.Join(t.TempDir(), "t.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := parquet.NewGenericWriter[any](f, of, parquet.KeyValueMetadata("pandas", "{}"), parquet.MaxRowsPerRowGroup(70),
			parquet.Compression(&parquet.Zstd))
		for k := range 100 {
			if _, err := w.WriteRows([]parquet.Row{rowOf(of, 100*part+k)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		paths = append(paths, path)
	}
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	meta, _ := openAll(t, whole)
	for name, keep := range map[string]func(int) bool{"some": func(row int) bool { return row%7 < 3 }, "all": nil,
		"none": func(int) bool { return false }} {
		var out bytes.Buffer
		if err := CopyRows(t.Context(), s, Options{}, &out, Parquet, nil, keep, paths...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		its, rows := openAll(t, out.Bytes())
		if !reflect.DeepEqual(its.Schema, meta.Schema) || !reflect.DeepEqual(its.KeyValueMetadata, meta.KeyValueMetadata) {
			t.Errorf("%s: other columns:\n%+v\n%+v", name, its.Schema, meta.Schema)
		}
		var want []parquet.Row
		for k := range 200 {
			if keep == nil || keep(k) {
				want = append(want, rowOf(of, k))
			}
		}
		if len(rows) != len(want) {
			t.Fatalf("%s: %d rows, want %d", name, len(rows), len(want))
		}
		for i := range rows {
			if fmt.Sprintf("%+v", rows[i]) != fmt.Sprintf("%+v", want[i]) || !rows[i].Equal(want[i]) {
				t.Fatalf("%s: row %d is %+v, want %+v", name, i, rows[i], want[i])
			}
		}
		if got, err := ReadParquet(t.Context(), s, Options{}, "t.parquet", out.Bytes()); err != nil && name != "none" || err == nil && got.Rows != len(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CopyRows(t.Context(), s, Options{}, &bytes.Buffer{}, Parquet, nil, nil, paths[0], writeOther(t, of)); err == nil {
		t.Error("files of different types are put together")
	}
}

// writeOther writes a file whose column x has another type.
func writeOther(t *testing.T, of *parquet.Schema) string {
	t.Helper()
	group := parquet.Group{}
	for _, f := range of.Fields() {
		group[f.Name()] = f
	}
	group["x"] = parquet.Leaf(parquet.FloatType)
	var b bytes.Buffer
	if err := parquet.NewGenericWriter[any](&b, parquet.NewSchema("visits", group)).Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "other.parquet", b.String())
}
