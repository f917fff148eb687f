// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestParquetColumnsAndTypes(t *testing.T) {
	type good struct {
		A     float64 `parquet:"a"`
		P     string  `parquet:"p"`
		C     string  `parquet:"c"`
		Label int8    `parquet:"label"`
	}
	tab, err := Read(context.Background(), tinySchema(), Options{},
		writeParquet(t, []good{{1, "1,5", "x", 1}, {2, "3", canary, 0}}))
	if err != nil {
		t.Fatal(err)
	}
	if got := tab.Cols[1].Values; !slices.Equal(got, []float64{3, 7}) || tab.Cols[1].Codes.At(0) != 1 {
		t.Errorf("numbers as strings: %v, want the default and 3", got)
	}
	type missing struct {
		A     float64 `parquet:"a"`
		C     string  `parquet:"c"`
		Label int8    `parquet:"label"`
	}
	type extra struct {
		A     float64 `parquet:"a"`
		E     string  `parquet:"e"`
		P     string  `parquet:"p"`
		C     string  `parquet:"c"`
		Label int8    `parquet:"label"`
	}
	type list struct {
		A     []float64 `parquet:"a"`
		P     string    `parquet:"p"`
		C     string    `parquet:"c"`
		Label int8      `parquet:"label"`
	}
	type date struct {
		A     float64   `parquet:"a"`
		P     time.Time `parquet:"p"`
		C     string    `parquet:"c"`
		Label int8      `parquet:"label"`
	}
	type day struct {
		A     int32  `parquet:"a,date"`
		P     string `parquet:"p"`
		C     string `parquet:"c"`
		Label int8   `parquet:"label"`
	}
	type levels struct {
		A     int64  `parquet:"a"`
		P     string `parquet:"p"`
		C     int64  `parquet:"c,decimal(2:12)"`
		Label int8   `parquet:"label"`
	}
	type group struct {
		A     struct{ X float64 } `parquet:"a"`
		P     string              `parquet:"p"`
		C     string              `parquet:"c"`
		Label int8                `parquet:"label"`
	}
	type label struct {
		A     float64 `parquet:"a"`
		P     string  `parquet:"p"`
		C     string  `parquet:"c"`
		Label string  `parquet:"label"`
	}
	for _, row := range []struct {
		name, path string
		line       int
		column     string
		fault      string
	}{
		{"missing column", writeParquet(t, []missing{{}}), 0, "p", "must be among the names"},
		{"extra column", writeParquet(t, []extra{{}}), 0, "e", "must be declared"},
		{"list", writeParquet(t, []list{{}}), 0, "a", "LIST cannot"},
		{"time", writeParquet(t, []date{{}}), 0, "p", "TIMESTAMP(ns, UTC) cannot; declare a date"},
		{"date", writeParquet(t, []day{{}}), 0, "a", "DATE cannot; declare a date"},
		{"levels", writeParquet(t, []levels{{}}), 0, "c", "DECIMAL(12,2) cannot"},
		{"group", writeParquet(t, []group{{}}), 0, "a", "STRUCT cannot"},
		{"label", writeParquet(t, []label{{0, "", "", "1"}, {0, "", "", "0"}, {0, "", "", canary}}), 3, "label",
			"one of the classes"},
		{"empty file", writeFile(t, "t.parquet", ""), 0, "", "undamaged"},
		{"CSV", writeFile(t, "t.parquet", header+canary+canary), 0, "", "undamaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Read(context.Background(), tinySchema(), Options{}, row.path)
			wantFault(t, err, row.path, row.line, row.column, row.fault)
			found, err := checkFaults(context.Background(), tinySchema(), row.path)
			if err != nil || len(found) == 0 {
				t.Fatalf("check: %d faults and error %v, want some and none", len(found), err)
			}
			wantFault(t, &found[0], row.path, row.line, row.column, row.fault)
		})
	}
}

func TestPublicNullsOfParquet(t *testing.T) {
	rows := randomRows(5000)
	s := smallSchema()
	s.Columns[1].Default = nil
	s.Columns[1].Upper = 50
	for i := range 4000 {
		rows[i].Income = new(int64)
	}
	const first = 4100
	for i := 4000; i < len(rows); i++ {
		rows[i].Income = nil
		if i < first || i > first+20 {
			rows[i].Income = new(int64)
		}
	}
	path := writeParquet(t, rows, parquet.MaxRowsPerRowGroup(2100))
	_, err := Read(context.Background(), s, Options{}, path)
	wantFault(t, err, path, first+1, "income", "decimal number")
	if want := "row "; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
	found, err := checkFaults(context.Background(), s, path)
	if err != nil {
		t.Fatal(err)
	}
	nulls := 0
	for i := range rows {
		if rows[i].Income == nil {
			nulls++
		}
	}
	if len(found) != 1 || found[0].Alike != nulls-1 {
		t.Errorf("check found %v, want one fault of %d cells", found, nulls)
	}
}

// TestDamagedParquet changes every byte of a file in turn. Most changes must be
// noticed; none may bring the reader down, and no error may hold a cell.
func TestDamagedParquet(t *testing.T) {
	rows := randomRows(20)
	for i := range rows {
		city := canary + "x"
		rows[i].City, rows[i].Note = &city, canary
	}
	for _, options := range [][]parquet.WriterOption{
		{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
		{parquet.Compression(&parquet.Uncompressed)},
	} {
		whole, err := os.ReadFile(writeParquet(t, rows, options...))
		if err != nil {
			t.Fatal(err)
		}
		noticed := 0
		for i := range whole {
			broken := slices.Clone(whole)
			broken[i] ^= 1 << (i % 8)
			if readBytes(t, broken) != nil {
				noticed++
			}
		}
		if 2*noticed < len(whole) {
			t.Errorf("%d of %d changes noticed", noticed, len(whole))
		}
		for n := range len(whole) {
			if readBytes(t, whole[:n]) == nil {
				t.Errorf("the first %d of %d bytes read as a table", n, len(whole))
			}
		}
	}
}

func readBytes(t testing.TB, data []byte) error {
	t.Helper()
	s := smallSchema()
	cols, label, err := newCoders(s)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{ctx: context.Background(), s: s, opts: Options{MaxRows: math.MaxInt32}, paths: []string{"t.parquet"},
		cols: cols, label: label}
	pf, err := newParquetFile("t.parquet", bytes.NewReader(data), int64(len(data)))
	if err == nil {
		err = r.readParquetFiles([]*parquetFile{pf})
	}
	if err != nil {
		var fault *FaultError
		if !errors.As(err, &fault) {
			t.Errorf("error %v, want a fault", err)
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("the error repeats a cell: %v", err)
		}
		return err
	}
	for j, c := range r.cols {
		if c == nil {
			continue
		}
		col := c.takeColumn()
		if col.Codes.Len() != r.rows {
			t.Fatalf("column %d: %d codes, want %d", j, col.Codes.Len(), r.rows)
		}
		n := uint32(len(col.Values))
		if !c.Number {
			n = uint32(s.Columns[j].Codes())
		}
		for i := range r.rows {
			if col.Codes.At(i) >= n {
				t.Fatalf("column %d: a code beyond %d", j, n)
			}
		}
	}
	return nil
}

// edited is a Parquet file with its metadata changed.
func edited(t testing.TB, path string, change func(*format.FileMetaData)) []byte {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), whole[len(whole)-8-n:len(whole)-8], &meta); err != nil {
		t.Fatal(err)
	}
	change(&meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		t.Fatal(err)
	}
	out := append(slices.Clone(whole[:len(whole)-8-n]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// TestParquetNumbersThatAreNone reads what only binary formats can hold.
func TestParquetNumbersThatAreNone(t *testing.T) {
	type odd struct {
		A     float64 `parquet:"a"`
		P     float32 `parquet:"p"`
		C     float64 `parquet:"c"`
		Label int64   `parquet:"label"`
	}
	inf := math.Inf(1)
	nan := math.NaN()
	path := writeParquet(t, []odd{
		{nan, float32(nan), nan, 0}, {inf, float32(inf), inf, 0}, {-inf, float32(-inf), -inf, 0},
		{math.Copysign(0, -1), float32(math.Copysign(0, -1)), 0, 0}, {1e300, -1e30, 1e300, 1},
	})
	s := tinySchema()
	s.Columns[2].Levels = []schema.Level{{Value: "1"}, {Value: "2"}} // which a double can be
	tab, err := Read(context.Background(), s, Options{}, path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]float64{{7, 7}, {7, 7}, {7, 7}, {0, 0}, {100, -100}} {
		for j := range want {
			got := tab.Cols[j].Values[tab.Cols[j].Codes.At(i)]
			if got != want[j] || math.Signbit(got) != math.Signbit(want[j]) {
				t.Errorf("row %d, column %d: %v, want %v", i, j, got, want[j])
			}
		}
		if got, want := int(tab.Cols[2].Codes.At(i)), []int{3, 2, 2, 2, 2}[i]; got != want {
			t.Errorf("row %d: category %d, want %d (other, and missing for NaN)", i, got, want)
		}
	}
	s.Columns[0].Default = nil
	_, err = Read(context.Background(), s, Options{}, path)
	wantFault(t, err, path, 1, "a", "decimal number")
}

func TestParquetClaims(t *testing.T) {
	path := writeParquet(t, randomRows(60), parquet.Compression(&parquet.Snappy))
	if err := readBytes(t, edited(t, path, func(*format.FileMetaData) {})); err != nil {
		t.Fatalf("unchanged metadata: %v", err)
	}
	for _, row := range []struct {
		name   string
		change func(*format.FileMetaData)
	}{
		{"rows", func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 1 << 40 }},
		{"negative rows", func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }},
		{"values", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues++ }},
		{"rows and values", func(m *format.FileMetaData) {
			m.RowGroups[0].NumRows++
			for i := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[i].MetaData.NumValues++
			}
		}},
		{"size", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 50 }},
		{"negative size", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = -1 }},
		{"offset", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 1 << 50 }},
		{"codec", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = 99 }},
		{"other codec", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.Gzip }},
		{"type", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = format.Int96 }},
		{"fewer columns", func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:2] }},
		{"another file", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "elsewhere" }},
	} {
		if readBytes(t, edited(t, path, row.change)) == nil {
			t.Errorf("%s: no fault", row.name)
		}
	}
	bomb := edited(t, path, func(m *format.FileMetaData) {
		m.RowGroups[0].NumRows = 1 << 28
		for i := range m.RowGroups[0].Columns {
			m.RowGroups[0].Columns[i].MetaData.NumValues = 1 << 28
		}
	})
	if took := memoryOf(func() { _ = readBytes(t, bomb) }); took > 64<<20 {
		t.Errorf("a claim of 2^28 rows took %d bytes of memory", took)
	}
}

// tinyRow is a row of tinySchema.
type tinyRow struct {
	A     float64 `parquet:"a,dict"`
	P     float64 `parquet:"p,dict"`
	C     string  `parquet:"c,dict"`
	Label int8    `parquet:"label,dict"`
}

// rowBomb is a small file of many rows: a group of 2^18 that are alike, which
// take next to no room, and times-1 more that lie in the same bytes.
func rowBomb(t testing.TB, times int) []byte {
	rows := make([]tinyRow, 1<<18)
	for i := range rows {
		rows[i] = tinyRow{1, 2, "x", 0}
	}
	path := writeParquet(t, rows, parquet.Compression(&parquet.Snappy))
	return edited(t, path, func(m *format.FileMetaData) {
		for range times - 1 {
			m.RowGroups = append(m.RowGroups, m.RowGroups[0])
		}
		m.NumRows *= int64(times)
	})
}

// Neither how many rows a file has nor how far its pages expand is held against its size, which
// follows from what cells hold.
func TestParquetBombs(t *testing.T) {
	size.OnlyLong(t, "files of sixteen million rows")
	few := rowBomb(t, 64)
	if tab, err := Read(t.Context(), tinySchema(), Options{}, writeFile(t, "few.parquet", string(few))); err != nil ||
		tab.Rows != 64<<18 {
		t.Errorf("16 million rows in %d bytes: %v", len(few), err)
	}
	path := writeParquet(t, []tinyRow{{C: strings.Repeat("x", 100<<20)}, {C: "y"}}, parquet.Compression(&parquet.Zstd))
	if tab, err := Read(t.Context(), tinySchema(), Options{}, path); err != nil || tab.Rows != 2 {
		t.Errorf("a cell of 100 MiB: %v", err)
	}
}

func TestParquetEncodings(t *testing.T) {
	type plain struct {
		A     int64   `parquet:"a,delta"`
		P     float32 `parquet:"p"`
		C     string  `parquet:"c,plain"`
		D     string  `parquet:"d"`
		I     int32   `parquet:"i,delta"`
		U     uint32  `parquet:"u"`
		B     bool    `parquet:"b"`
		Label string  `parquet:"label,dict"`
	}
	one := 1.0
	number := func(name string) schema.Column {
		return schema.Column{Name: name, Role: schema.Public, Kind: schema.Number, Lower: -1e10, Upper: 1e10, Default: &one}
	}
	word := func(name string, levels ...string) schema.Column {
		c := schema.Column{Name: name, Role: schema.Public, Kind: schema.Category}
		for _, level := range levels {
			c.Levels = append(c.Levels, schema.Level{Value: level})
		}
		return c
	}
	s := &schema.Schema{
		Columns: []schema.Column{number("a"), number("p"), word("c", "x", "y"), word("i", "-3", "0", "3"), number("u"),
			number("b"), word("d", "long", "longer")},
		Label: tinySchema().Label,
	}
	var rows []plain
	for i := range 3000 {
		rows = append(rows, plain{int64(i*i) - 5, float32(i) / 4, []string{"x", "y"}[i%2], []string{"long", "longer"}[i/2%2],
			int32(i%3*3 - 3), 1<<32 - 1 - uint32(i), i%5 == 0, []string{"0", "1"}[i%2]})
	}
	for _, version := range []int{1, 2} {
		tab, err := Read(context.Background(), s, Options{},
			writeParquet(t, rows, parquet.DataPageVersion(version), parquet.PageBufferSize(4000)))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			value := func(j int) float64 { return tab.Cols[j].Values[tab.Cols[j].Codes.At(i)] }
			b := 0.0
			if r.B {
				b = 1
			}
			if value(0) != float64(r.A) || value(1) != float64(r.P) || value(4) != float64(r.U) || value(5) != b {
				t.Fatalf("row %d: numbers %v %v %v %v, want %+v", i, value(0), value(1), value(4), value(5), r)
			}
			if int(tab.Cols[2].Codes.At(i)) != i%2 || int(tab.Cols[3].Codes.At(i)) != i%3 ||
				int(tab.Cols[6].Codes.At(i)) != i/2%2 || int(tab.Labels[i]) != i%2 {
				t.Fatalf("row %d: categories differ", i)
			}
		}
	}
}
