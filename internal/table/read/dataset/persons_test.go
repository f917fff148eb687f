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
