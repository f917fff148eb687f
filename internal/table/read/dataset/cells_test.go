// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const cellsSchema = `
name: t
unit: one row
relation: add-remove
file: {delimiter: ";", quote: "", header: true, decimal: ",", missing: ["?"], comment: "#"}
person: {column: id, rows: 1}
columns:
  - {name: id, role: ignored}
  - {name: a, role: private, number: {lower: -5, upper: 50, default: 7}}
  - {name: d, role: private, date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2024-12-31, default: 2016-01-01}}
  - {name: c, role: private, category: {levels: [x, "1", "true"], missing: true}}
  - {name: y, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`

var cellNames = []string{"id", "a", "d", "c", "y", "note"}

// Values of cells of a test, beside those of Go's own types.
type (
	dayValue     int64
	instantValue [2]int64 // seconds, and those that the zone is east
	exactValue   string
)

func formOf(cell any) byte {
	switch cell.(type) {
	case nil:
		return '-'
	case bool:
		return 'b'
	case int:
		return 'i'
	case uint64:
		return 'u'
	case float64:
		return 'f'
	case float32:
		return 's'
	case dayValue:
		return 'd'
	case instantValue:
		return 'z'
	case exactValue:
		return 'x'
	}
	return 't'
}

// asCells is a stream of columns in which each cell has a form of its own.
func asCells(names []string, rows ...[]any) []byte {
	return asColumns(names, strings.Repeat("a", len(names)), maxCellRows, rows)
}

// asColumns is a stream of columns of the given forms, in blocks of so many rows.
func asColumns(names []string, forms string, block int, rows [][]any) []byte {
	out := []byte{cellsVersion}
	length := func(n int) { out = binary.LittleEndian.AppendUint32(out, uint32(n)) }
	text := func(s string) { length(len(s)); out = append(out, s...) }
	length(len(names))
	for k, name := range names {
		text(name)
		out = append(out, forms[k])
		text("type " + forms[k:k+1])
		out = append(out, make([]byte, 20)...)
	}
	for ; len(rows) > 0; rows = rows[min(block, len(rows)):] {
		now := rows[:min(block, len(rows))]
		length(len(now))
		for k := range names {
			var parts, of []byte
			for _, row := range now {
				form := formOf(row[k])
				if bytes.IndexByte(parts, form) < 0 {
					parts = append(parts, form)
				}
				of = append(of, byte(bytes.IndexByte(parts, form)))
			}
			out = append(append(out, byte(len(parts))), parts...)
			if len(parts) > 1 {
				out = append(out, of...)
			}
			for _, form := range parts {
				out = appendPart(out, form, now, k)
			}
		}
	}
	length(0)
	return out
}

func appendPart(out []byte, form byte, rows [][]any, k int) []byte {
	var texts []string
	var codes []byte
	for _, row := range rows {
		if formOf(row[k]) != form {
			continue
		}
		switch x := row[k].(type) {
		case bool:
			out = append(out, map[bool]byte{true: 7, false: 0}[x])
		case int:
			out = binary.LittleEndian.AppendUint64(out, uint64(x))
		case uint64:
			out = binary.LittleEndian.AppendUint64(out, x)
		case float64:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		case float32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		case dayValue:
			out = binary.LittleEndian.AppendUint64(out, uint64(x))
		case instantValue:
			out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, uint64(x[0])), uint64(x[1]))
		case string, exactValue:
			text := fmt.Sprint(x)
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
			codes = binary.LittleEndian.AppendUint16(codes, uint16(slices.Index(texts, text)))
		}
	}
	if form == 't' || form == 'x' {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(texts)+1)), codes...)
		for _, text := range append(texts, "of no row") {
			out = append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), text...)
		}
	}
	return out
}

func readCellsOf(t testing.TB, s *schema.Schema, stream []byte, split int) (*Table, error) {
	t.Helper()
	// A reader that gives a few bytes at a time: no length may depend on how a pipe cuts them.
	return Read(context.Background(), s, Options{Extra: ExtraDropped, Stdin: &slowReader{stream, split}}, Cells)
}

type slowReader struct {
	left []byte
	n    int
}

func (r *slowReader) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.left[:min(r.n, len(r.left))])
	r.left = r.left[n:]
	return n, nil
}

// One record is one row, whatever its cells hold: text that would be a comment, a quote, a record's
// end or a format's first bytes, and numbers that are none.
func TestCellsOfAnyBytesAreOneRow(t *testing.T) {
	s := parseSchema(t, cellsSchema)
	hostile := []any{nil, true, false, 0.0, math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 1e300, 0.5, "", "x", "yes",
		"#", "\x00", "\r", "\n", "\r\n", `"`, ",", "PAR1", "\x1f\x8b", "\xff\xfe", "\xed\xa0\x80", "\ufeff", "?", "3,5",
		"1e999", strings.Repeat("a", 300<<10), strings.Repeat("b", 3<<20), "31.12.2020", ".", "+"}
	for at := range cellNames {
		for _, cell := range hostile {
			row := []any{"p", 3.0, 16800.0, "x", "no", "n"}
			row[at] = cell
			tab, err := readCellsOf(t, s, asCells(cellNames, []any{"q", 1.0, nil, "1", "yes", nil}, row,
				[]any{"p", 2.0, "01.02.2020", true, "no", nil}), 1<<20)
			if err != nil || tab.Rows != 3 || len(tab.Labels) != 3 || tab.Labels[0] != 1 || tab.Cols[3].Codes.At(2) != 2 {
				t.Fatalf("column %d, cell %.20q: error %v", at, cell, err)
			}
		}
	}
	// Cells mean what the same cells of a file mean.
	s.Columns[2].Days = true
	tab, err := readCellsOf(t, s, asCells(cellNames, []any{"p", "3,5", "01.02.2020", nil, "yes", nil}, []any{"p", 3.5,
		18293.0, "1", "yes", nil}), 3)
	if err != nil || len(tab.Cols[1].Values) != 1 || tab.Cols[1].Values[0] != 3.5 || len(tab.Cols[2].Values) != 1 ||
		tab.Persons[0] != tab.Persons[1] || tab.Cols[3].Codes.At(0) != uint32(s.Columns[3].MissingCode()) {
		t.Fatalf("%+v, error %v", tab, err)
	}
	if tab, err = readCellsOf(t, s, asCells(cellNames), 1); err != nil || tab.Rows != 0 {
		t.Errorf("no rows: %+v, error %v", tab, err)
	}
}

// A cell of a public column that means nothing is refused by row and column, as in a file.
func TestPublicCellsAreRefusedByRow(t *testing.T) {
	s := parseSchema(t, `
name: t
unit: one row
relation: replace-one
file: {delimiter: ",", quote: "", header: true, missing: []}
columns:
  - {name: a, role: public, number: {lower: 0, upper: 9}}
  - {name: y, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
`)
	_, err := readCellsOf(t, s, asCells([]string{"a", "y"}, []any{1.0, "no"}, []any{"CANARY", "no"}), 9)
	if err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), `row 2: column "a"`) {
		t.Errorf("error %v", err)
	}
}

// A cell of a column is what the cell of its type is to every reader, in blocks of any size; and what no row
// has leaves no trace.
func TestCellsKeepTheirTypes(t *testing.T) {
	s := parseSchema(t, cellsSchema)
	values := map[byte][]any{'i': {12, -3, 1 << 60, 0, 1}, 'u': {uint64(1), uint64(1 << 63)}, 'f': {1.0, 0.5, 1e300, math.Copysign(0, -1)},
		's': {float32(1), float32(0.1), float32(math.Inf(1))}, 'b': {true, false}, 'd': {dayValue(18000), dayValue(0), dayValue(-1 << 40)},
		'z': {instantValue{1_600_000_000, 0}, instantValue{1_600_000_000, 12 * 60 * 60}, instantValue{-1, 0}, instantValue{-1, 1}}, 't': {"x", "1", "1.0", "true", "31.12.2020", "3,5", "?", ""},
		'x': {exactValue("1"), exactValue("-12.50"), exactValue("1.0")}, '-': {nil}}
	cellOf := func(v any) coding.Cell {
		switch x := v.(type) {
		case bool:
			return coding.TruthCell(x)
		case int:
			return coding.IntegerCell(int64(x))
		case uint64:
			return coding.UnsignedCell(x)
		case float64:
			return coding.NumberCell(x)
		case float32:
			return coding.SingleCell(x)
		case dayValue:
			return coding.DayCell(int(x))
		case instantValue:
			return coding.InstantCell(x[0], int(x[1]))
		case exactValue:
			return coding.DecimalCell(string(x))
		case string:
			return coding.TextCell(x)
		}
		return coding.Cell{}
	}
	var all [][]any
	for _, form := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[form] {
			all = append(all, []any{"p", v, v, v, v, nil})
		}
	}
	want, err := NewBuilder(t.Context(), s, cellNames[:5])
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all {
		var cells []coding.Cell
		for _, v := range row[:5] {
			cells = append(cells, cellOf(v))
		}
		if err := want.Add(cells); err != nil {
			t.Fatal(err)
		}
	}
	table, err := want.Table()
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range []int{1, 2, 7, len(all)} {
		got, err := readCellsOf(t, s, asColumns(cellNames, "taaaaa", block, all), 1<<20)
		if err != nil || !reflect.DeepEqual(got, table) {
			t.Errorf("blocks of %d rows: other tables, error %v", block, err)
		}
	}
	// Columns of one type are read likewise.
	for form, some := range values {
		rows := [][]any{{"p", nil, nil, nil, nil, nil}}
		for _, v := range some {
			rows = append(rows, []any{"p", v, nil, nil, nil, nil})
		}
		same, err := readCellsOf(t, s, asColumns(cellNames, "taaaaa", 3, rows), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readCellsOf(t, s, asColumns(cellNames, "t"+string(form)+"aaa?", 3, rows), 1<<20)
		if refused := form == 'd' || form == 'z'; refused != (err != nil) || !refused && !reflect.DeepEqual(got, same) {
			t.Errorf("form %c: another table, error %v", form, err)
		}
	}
}

// A declared type that cannot carry what the schema declares is refused by its name, whatever the cells are;
// a column that is not read may have any.
func TestDeclaredTypesOfCellsAreRefused(t *testing.T) {
	s := parseSchema(t, cellsSchema)
	for forms, want := range map[string]string{
		"taaaat": "", "?aaaa?": `"id"`, "tfdtt?": "", "taf" + "aa?": `column "d"`, "taad" + "a?": `column "c"`, "t?aaat": `column "a"`,
		"ttttb-": `column "y"`, "tdttt-": `column "a"`} {
		for _, rows := range [][][]any{nil, {{nil, nil, nil, nil, nil, nil}}} {
			_, err := readCellsOf(t, s, asColumns(cellNames, forms, 9, rows), 1<<20)
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "type ")) {
				t.Errorf("forms %s: error %v, want %q", forms, err, want)
			}
		}
	}
}

// What violates the format is refused in the same words, whatever the cells are.
func TestMalformedCellsAreRefused(t *testing.T) {
	s := parseSchema(t, cellsSchema)
	names := []string{"id", "a", "d", "c", "y"}
	good := asColumns(names, "taaaa", 9, [][]any{{"p", 1.0, nil, "x", "no"}, {"q", 2, "?", "x", "yes"}})
	head := len(asColumns(names, "taaaa", 9, nil)) - 4 // of the bytes before the blocks
	change := func(at int, to ...byte) []byte {
		bad := bytes.Clone(good)
		copy(bad[at:], to)
		return bad
	}
	id := head + 4 // parts of the first column: a count, a form, two codes, the texts
	a := id + 1 + 1 + 4 + 2*2 + 4 + 1 + 4 + 1 + 4 + len("of no row")
	for name, bad := range map[string][]byte{
		"version": change(0, 1), "form of a column": change(1+4+4+2, 'q'), "rows": change(head, 1, 0, 1, 0), "no parts": change(id, 0),
		"parts": change(id, 17), "form": change(id+1, 'q'), "another form": change(id+1, 'f'), "a form of columns": change(a+1, 'a'),
		"part": change(a+3, 5), "texts": change(id+2, 1, 0, 1, 0), "code": change(id+2+4, 3), "more": append(good[:len(good)-4:len(good)-4], 1),
	} {
		if _, err := readCellsOf(t, s, bad, 1<<20); !errors.Is(err, errBrokenCells) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := readCellsOf(t, s, good, 1); err != nil {
		t.Error(err)
	}
}

// A stream that is cut short anywhere is refused, and blocks have the same rows as a table.
func TestCellsEndWhereTheyShould(t *testing.T) {
	s := parseSchema(t, cellsSchema)
	row := []any{"p", 3.0, nil, "x", true, strings.Repeat("n", 400<<10)}
	stream := asCells(cellNames, row, row, row)
	for end := 0; end < len(stream); end += 1 + end/97 {
		var fault *FaultError
		if _, err := readCellsOf(t, s, stream[:end], 1<<20); !errors.As(err, &fault) {
			t.Fatalf("cut at %d: error %v", end, err)
		}
	}
	rows := 0
	opts := Options{Extra: ExtraDropped, Stdin: bytes.NewReader(stream), Ordered: true}
	total, err := ReadBlocks(context.Background(), s, opts, 1, func(_ int, t *Table) error { rows += t.Rows; return nil }, Cells)
	if err != nil || total != 3 || rows != 3 {
		t.Errorf("%d rows in blocks, %d in all, error %v", rows, total, err)
	}
	if _, err := Read(context.Background(), s, Options{}, Cells); err == nil {
		t.Error("no standard input: no error")
	}
}

// FuzzReadCells feeds any bytes. They are whole rows, or a fault, and take memory in proportion;
// and a cell of any bytes is one row among others.
func FuzzReadCells(f *testing.F) {
	s := parseSchema(f, cellsSchema)
	f.Add(asCells(cellNames, []any{"p", 3.0, nil, "x", true, "n"}))
	f.Add(asColumns(cellNames, "tfdtt?", 1, [][]any{{"p", 3.0, dayValue(3), "x", "yes", nil}, {"p", nil, nil, nil, "", nil}}))
	f.Add([]byte("\x02\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x02\x00\x00\x00\x00...."))
	f.Fuzz(func(t *testing.T, in []byte) {
		var tab *Table
		var err error
		took := memoryOf(func() { tab, err = readCellsOf(t, s, in, 1<<20) })
		if limit := uint64(4<<20 + 100*len(in)); took > limit {
			t.Errorf("%d bytes took %d bytes of memory, more than %d", len(in), took, limit)
		}
		var fault *FaultError
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("error %v is no fault", err)
		}
		if err == nil && len(tab.Labels) != tab.Rows {
			t.Errorf("%d labels of %d rows", len(tab.Labels), tab.Rows)
		}
		if len(in) > 8 && err != nil && !reflect.DeepEqual(fault, &FaultError{File: memoryFile, Column: fault.Column,
			Fault: fault.Fault}) {
			t.Errorf("fault %+v says which row of a protected table", fault)
		}
		whole := []any{"q", 1.0, nil, "1", "yes", nil}
		for at := range cellNames {
			row := []any{"p", 3.0, nil, "x", "no", nil}
			row[at] = string(in)
			tab, err := readCellsOf(t, s, asCells(cellNames, row, whole), 1<<20)
			if err != nil || tab.Rows != 2 || tab.Labels[1] != 1 {
				t.Fatalf("a cell of column %d: error %v", at, err)
			}
		}
	})
}

// Rows that are only scored keep the order of their numbers, which costs no sort; others do not.
func TestScoredNumbersAreNotSorted(t *testing.T) {
	s := parseSchema(t, strings.Replace(strings.Replace(cellsSchema, "person: {column: id, rows: 1}\n", "", 1), "  - {name: id, role: ignored}\n", "", 1))
	r, err := NewCellReader(t.Context(), s, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]float64{{3, 1, 2, 1}, {}, {9, 4}} {
		var rows [][]any
		for _, x := range want {
			rows = append(rows, []any{x, dayValue(17000), "x"})
		}
		got, err := r.Read(bytes.NewReader(asCells([]string{"a", "d", "c"}, rows...)))
		if err != nil {
			t.Fatal(err)
		}
		col := got.Cols[0]
		if col.Values == nil || got.Rows != len(want) {
			t.Fatalf("%d rows of values %v", got.Rows, col.Values)
		}
		for i, x := range want {
			if col.Cell(i).Number != x || col.Values[0] != want[0] {
				t.Errorf("row %d of %v is %g, of the values %v", i, want, col.Cell(i).Number, col.Values)
			}
		}
	}
}
