// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

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

func asCells(names []string, rows ...[]any) []byte {
	var out []byte
	text := func(s string) { out = append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...) }
	out = binary.LittleEndian.AppendUint32(out, uint32(len(names)))
	for _, name := range names {
		text(name)
	}
	for _, row := range rows {
		out = append(out, '+')
		for _, cell := range row {
			switch x := cell.(type) {
			case nil:
				out = append(out, '-')
			case bool:
				out = append(out, map[bool]byte{true: '1', false: '0'}[x])
			case float64:
				out = binary.LittleEndian.AppendUint64(append(out, 'n'), math.Float64bits(x))
			case string:
				out = append(out, 't')
				text(x)
			}
		}
	}
	return append(out, '.')
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
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x00...."))
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
