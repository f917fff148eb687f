// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const personSchema = `name: visits
unit: one visit
relation: replace-one
person: {column: pid, rows: 1}
file: {delimiter: ",", quote: '"', header: true, missing: ["", "?"]}
columns:
  - {name: pid, role: ignored}
  - {name: age, role: private, number: {lower: 0, upper: 100, default: 40}}
  - {name: ill, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
`

func readPersons(t *testing.T, opts Options, text string) (*Table, error) {
	t.Helper()
	s, err := schema.Parse([]byte(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	opts.Stdin = strings.NewReader(text)
	return Read(context.Background(), s, opts, "-")
}

// Rows of one person have one number, rows without an identifier have none, and nothing of an
// identifier stays.
func TestPersonsAreNumbered(t *testing.T) {
	text := "pid,age,ill\n"
	for _, id := range []string{"ann", "bob", "", "ann", "?", "cleo", "bob", "ann"} {
		text += id + ",30,no\n"
	}
	tab, err := readPersons(t, Options{}, text)
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint32{1, 2, Nobody, 1, Nobody, 3, 2, 1}; !slices.Equal(tab.Persons, want) {
		t.Errorf("persons %v, want %v", tab.Persons, want)
	}
	rows, persons := tab.CountPersons()
	if !slices.Equal(rows, []uint32{2, 3, 2, 1}) || persons != 3 {
		t.Errorf("%d persons with %v rows", persons, rows)
	}
	part := tab.Subset([]int{0, 5, 3})
	if _, persons := part.CountPersons(); !slices.Equal(part.Persons, []uint32{1, 3, 1}) || persons != 2 {
		t.Errorf("a part has persons %v", part.Persons)
	}
	if tab.Cols[0].Codes.Len() > 0 {
		t.Error("the column of identifiers was kept")
	}
}

// Whatever type a Parquet file or a program has identifiers in, they are the same persons; a NaN,
// as tables of numbers write a missing cell, is no one.
func TestIdentifiersOfEveryType(t *testing.T) {
	s, err := schema.Parse([]byte(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	type integers struct {
		ID  *int64 `parquet:"pid,optional"`
		Age int32  `parquet:"age"`
		Ill string `parquet:"ill"`
	}
	type doubles struct {
		ID  float64 `parquet:"pid"`
		Age int32   `parquet:"age"`
		Ill string  `parquet:"ill"`
	}
	type texts struct {
		ID  string `parquet:"pid"`
		Age int32  `parquet:"age"`
		Ill string `parquet:"ill"`
	}
	type binary struct {
		ID  []byte `parquet:"pid"`
		Age int32  `parquet:"age"`
		Ill string `parquet:"ill"`
	}
	var a []integers
	var b []doubles
	var c []texts
	var d []binary
	const large = 1<<53 + 1 // no float64 holds it
	for _, id := range []int64{large, 7, 0, large, 0, 8, 7, large} {
		row := integers{&id, 30, "no"}
		x, text := float64(id), strconv.FormatInt(id, 10)
		if id == 0 { // no one
			row.ID, x, text = nil, math.NaN(), "?"
		}
		a, b = append(a, row), append(b, doubles{x, 30, "no"})
		c, d = append(c, texts{text, 30, "no"}), append(d, binary{[]byte(text), 30, "no"})
	}
	read := func(path string) *Table {
		tab, err := Read(context.Background(), s, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	held, err := NewBuilder(context.Background(), s, []string{"pid", "age", "ill"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range b {
		cells := []coding.Cell{coding.NumberCell(row.ID), coding.NumberCell(30), coding.TextCell("no")}
		if err := held.Add(cells); err != nil {
			t.Fatal(err)
		}
	}
	inMemory, err := held.Table()
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{1, 2, Nobody, 1, Nobody, 3, 2, 1}
	for name, tab := range map[string]*Table{"integers": read(writeParquet(t, a)), "doubles": read(writeParquet(t, b)),
		"texts": read(writeParquet(t, c)), "binary": read(writeParquet(t, d)), "numbers in memory": inMemory} {
		if !slices.Equal(tab.Persons, want) {
			t.Errorf("%s: persons %v, want %v", name, tab.Persons, want)
		}
	}
	// Files of several types are one table.
	both, err := Read(context.Background(), s, Options{}, writeParquet(t, a), writeParquet(t, c))
	if err != nil || !slices.Equal(both.Persons, append(want, want...)) {
		t.Errorf("two files: %v, %v", both, err)
	}
}

// However a source has an identifier, it has one form: the digits of a whole number where the schema says that
// identifiers are such, and else the text in NFC. Nothing else is taken for the same.
func TestIdentifiersHaveOneForm(t *testing.T) {
	type row[T any] struct {
		ID  T      `parquet:"pid"`
		Age int32  `parquet:"age"`
		Ill string `parquet:"ill"`
	}
	typed := []string{writeParquet(t, []row[int64]{{123, 30, "no"}}), writeParquet(t, []row[uint32]{{123, 30, "no"}}),
		writeParquet(t, []row[float64]{{123, 30, "no"}}), writeParquet(t, []row[float32]{{123, 30, "no"}}),
		writeParquet(t, []row[string]{{"123", 30, "no"}})}
	for _, c := range []struct {
		kind  string
		file  string
		texts [][]string // the spellings of one person each
	}{
		{"text", "", [][]string{{"123"}, {"0123"}, {"123.0"}, {"+123"}, {"Zo\u00eb", "Zoe\u0308"}, {"ZO\u00cb"}, {"1e3"}}},
		{"whole", "", [][]string{{"123", "0123", "123.0", "+123", "123.", "00123.000"}, {"-5", "-05.0", "\u22125"}, {"0", "-0", "000", "0.0"},
			{"123.5"}, {"1e3"}, {"123 "}, {"12a"}, {"--1"}, {"."}, {"9007199254740993", "9007199254740993.0"}, {"9007199254740992"},
			{"Zo\u00eb", "Zoe\u0308"}}},
		{"whole", `, decimal: ",", thousands: "."`, [][]string{{"123", "123,0"}, {"1234", "1.234", "1.234,00"}, {"123.0"}, {"1,234"}}},
	} {
		text := strings.Replace(personSchema, "rows: 1}", "rows: 1, identifiers: "+c.kind+"}", 1)
		text = strings.Replace(text, "\"?\"]}", "\"?\", \"-1\"]"+c.file+"}", 1)
		s, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rows, want := "pid,age,ill\n", []uint32{}
		for k, texts := range c.texts {
			for _, spelling := range texts {
				rows, want = rows+"\""+spelling+"\",30,no\n", append(want, uint32(k+1))
			}
		}
		rows, want = rows+"-1,30,no\n", append(want, Nobody)
		if c.kind == "whole" {
			rows, want = rows+"-01,30,no\n", append(want, Nobody)
		}
		for range typed {
			want = append(want, 1)
		}
		tab, err := Read(t.Context(), s, Options{}, append([]string{writeFile(t, "t.csv", rows)}, typed...)...)
		if err != nil || !slices.Equal(tab.Persons, want) {
			t.Errorf("%s %s: persons %v, want %v, %v", c.kind, c.file, tab.Persons, want, err)
		}
		held, err := NewBuilder(t.Context(), s, []string{"pid", "age", "ill"})
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range []coding.Cell{coding.TextCell("123"), coding.IntegerCell(123), coding.UnsignedCell(123), coding.NumberCell(123),
			coding.SingleCell(123), coding.DecimalCell("123"), coding.IntegerCell(-1), coding.NumberCell(-1), coding.NumberCell(math.Inf(1)),
			coding.DecimalCell("1000000000000000000000"), coding.NumberCell(1e21), coding.IntegerCell(0), coding.NumberCell(math.Copysign(0, -1))} {
			if err := held.Add([]coding.Cell{cell, coding.NumberCell(30), coding.TextCell("no")}); err != nil {
				t.Fatal(err)
			}
		}
		if tab, err = held.Table(); err != nil || !slices.Equal(tab.Persons, []uint32{1, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2, 3, 3}) {
			t.Errorf("%s %s: persons in memory %v, %v", c.kind, c.file, tab.Persons, err)
		}
	}
}

// Who predicts is not asked for an identifier, and a training table without one is refused.
func TestWhoseRowsAreIsAskedOfTrainingAlone(t *testing.T) {
	s, err := schema.Parse([]byte(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	coder, err := coding.NewRowCoder(s)
	if err != nil {
		t.Fatal(err)
	}
	if names := coder.Names(); !slices.Equal(names, []string{"age"}) {
		t.Errorf("a row to predict has columns %v", names)
	}
	_, err = readPersons(t, Options{}, "age,ill\n3,no\n")
	if err == nil || !strings.Contains(err.Error(), `column "pid"`) {
		t.Errorf("a table without identifiers: %v", err)
	}
	for _, text := range []string{"age,ill\n3,no\n", "pid,age,ill\nann,3,no\n"} {
		if tab, err := readPersons(t, Options{Labels: LabelsIgnored}, text); err != nil || tab.Persons != nil {
			t.Errorf("a table for prediction: %v", err)
		}
	}
}
