// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const monthsText = `
name: months
unit: one person
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: ["", "?"]}
columns:
  - {name: a, role: private, number: {lower: -1e17, upper: 1e17, default: 2}}
  - {name: town, role: public, category: {levels: [u, v]}}
  - {name: y, role: public, label: {levels: [0, 1], positive: 1}}
  - {name: b, role: public, number: {lower: -1e17, upper: 1e17}}
  - {name: c, role: private, number: {lower: -1e17, upper: 8, default: -3}}
  - {name: id, role: ignored}
derived:
  - {name: most, largest: [a, b, c]}
  - {name: least, smallest: [c, a]}
  - {name: usual, mean: [a, b, c]}
  - {name: usual too, mean: [a, c, b]}
`

func monthsSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(monthsText))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// number is a cell of a number column.
func number(t *Table, j, row int) float64 { return t.Cols[j].Values[t.Cols[j].Codes.At(row)] }

// The four derived cells of a few rows, worked out by hand. A missing or
// unreadable private cell counts as its default, one outside the bounds as the
// bound.
func TestDerivedCells(t *testing.T) {
	const header = "a,town,y,b,c,id\n"
	for _, row := range []struct {
		line string
		want [4]float64
	}{
		{"1,u,0,2,6,x", [4]float64{6, 1, 3, 3}},
		{"-5,u,0,-7,-6,x", [4]float64{-5, -6, -6, -6}},
		{",u,0,1,0,x", [4]float64{2, 0, 1, 1}},
		{"?,u,0,4,cat,x", [4]float64{4, -3, 1, 1}},
		{"1,u,0,0,80,x", [4]float64{8, 1, 3, 3}},
		{"1e300,u,0,-1e300,9,x", [4]float64{1e17, 8, 8.0 / 3, 0}}, // the order of a sum: 1e17 + 8 rounds to 1e17
		{"-0,u,0,0,-0,x", [4]float64{0, 0, 0, 0}},
		{"4,u,0,4,4,x", [4]float64{4, 4, 4, 4}},
	} {
		tab := readText(t, monthsSchema(t), header+row.line+"\n")
		var got [4]float64
		for k := range got {
			got[k] = number(tab, 5+k, 0)
		}
		if got != row.want {
			t.Errorf("%s: got %v, want %v", row.line, got, row.want)
		}
	}
}

// The mean of three numbers can round to one above them all, or to -0; neither
// leaves the bounds or gets a code of its own.
func TestAMeanStaysWithinBounds(t *testing.T) {
	text := strings.NewReplacer("-1e17", "-0.1", "1e17", "0.1", "upper: 8", "upper: 0.1", "default: 2", "default: 0",
		"default: -3", "default: 0").Replace(monthsText)
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tab := readText(t, s, "a,town,y,b,c,id\n0.1,u,0,0.1,0.1,x\n-0.1,u,0,-0.1,-0.1,x\n-5e-324,u,0,0,0,x\n0,u,0,0,0,x\n")
	if got := tab.Cols[7].Values; !slices.Equal(got, []float64{-0.1, 0, 0.1}) || math.Signbit(got[1]) {
		t.Errorf("means %g", got)
	}
}

type monthsRow struct {
	A    *float64 `parquet:"a,optional"`
	Town string   `parquet:"town"`
	Y    int32    `parquet:"y"`
	B    int64    `parquet:"b"`
	C    *string  `parquet:"c,optional,dict"`
	ID   string   `parquet:"id"`
}

// A naive twin: each derived cell, from the text of its row. CSV and Parquet give
// the same table, with dictionaries that are strictly ascending and hold only what
// some row has.
func TestDerivedColumnsAgainstATwin(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	s := monthsSchema(t)
	for _, n := range []int{1, 2, batch, 2*batch + 7} {
		rows := make([]monthsRow, n)
		want := make([][4]float64, n)
		var text strings.Builder
		text.WriteString("a,town,y,b,c,id\n")
		for i := range rows {
			r := &rows[i]
			r.Town, r.Y, r.ID, r.B = "u", int32(random.IntN(2)), "x", int64(random.IntN(2000)-1000)
			a, c := 2.0, -3.0
			if random.IntN(4) > 0 {
				x := random.NormFloat64() * 10
				r.A, a = &x, x
			}
			if random.IntN(4) > 0 {
				x := random.IntN(40) - 20
				cell := fmt.Sprint(x)
				r.C, c = &cell, min(float64(x), 8)
			}
			b := float64(r.B)
			want[i] = [4]float64{slices.Max([]float64{a, b, c}), slices.Min([]float64{a, c}), (a + b + c) / 3, (a + c + b) / 3}
			cell := func(x any) string {
				if v := reflect.ValueOf(x); !v.IsNil() {
					return fmt.Sprint(v.Elem().Interface())
				}
				return ""
			}
			fmt.Fprintf(&text, "%s,u,%d,%d,%s,x\n", cell(r.A), r.Y, r.B, cell(r.C))
		}
		tab := readText(t, s, text.String())
		for k := range 4 {
			values := tab.Cols[5+k].Values
			if !slices.IsSorted(values) || len(slices.Compact(slices.Clone(values))) != len(values) {
				t.Errorf("%d rows: the dictionary of %q is not strictly ascending", n, s.Columns[5+k].Name)
			}
			held := map[float64]bool{}
			for i := range n {
				if got := number(tab, 5+k, i); got != want[i][k] {
					t.Fatalf("%d rows: row %d, %q: %g, want %g", n, i, s.Columns[5+k].Name, got, want[i][k])
				}
				held[want[i][k]] = true
			}
			if len(held) != len(values) {
				t.Errorf("%d rows: %q has %d values for %d distinct cells", n, s.Columns[5+k].Name, len(values), len(held))
			}
		}
		packed, err := Read(context.Background(), s, Options{}, writeParquet(t, rows, parquet.MaxRowsPerRowGroup(700)))
		if err != nil || !reflect.DeepEqual(packed, tab) {
			t.Errorf("%d rows: Parquet gives another table, error %v", n, err)
		}
		// Of some rows alone, what is derived is what was derived.
		some := make([]int, 0, n)
		for i := n - 1; i >= 0; i -= 3 {
			some = append(some, i)
		}
		part := tab.Subset(some)
		part.Forget()
		again := tab.Subset(some)
		again.Derive()
		again.Forget()
		if !reflect.DeepEqual(part, again) {
			t.Errorf("%d rows: a subset's derived cells are not those of its rows", n)
		}
	}
}

// A file has no derived column, by name or by place.
func TestFilesWithoutTheDerivedColumns(t *testing.T) {
	s := monthsSchema(t)
	path := writeFile(t, "t.csv", "a,most,town,y,b,c\n1,"+canary+",u,0,2,6\n")
	_, err := Read(context.Background(), s, Options{}, path)
	wantFault(t, err, path, 1, "most", "must not be in the file: the schema derives it")
	type withMost struct {
		monthsRow
		Most float64 `parquet:"most"`
	}
	packed := writeParquet(t, []withMost{{}})
	_, err = Read(context.Background(), s, Options{}, packed)
	wantFault(t, err, packed, 0, "most", "must not be in the file: the schema derives it")

	headless := *s
	headless.Dialect.Header = false
	tab := readText(t, &headless, "1,u,0,2,6,x\n")
	if got := number(tab, 5, 0); got != 6 || tab.Labels[0] != 0 {
		t.Errorf("without a header: %g, label %d", got, tab.Labels[0])
	}
	path = writeFile(t, "t.csv", "1,u,2,6,x\n")
	if tab, err = Read(context.Background(), &headless, Options{Labels: LabelsIgnored}, path); err != nil ||
		number(tab, 5, 0) != 6 {
		t.Errorf("without a header and a label: error %v", err)
	}
	path = writeFile(t, "t.csv", "1,u,0,2,6,x,6,1,3,3\n")
	_, err = Read(context.Background(), &headless, Options{}, path)
	wantFault(t, err, path, 1, "", "must have 6 cells")
}

// Anyone who reads one derived column needs its sources and nothing else.
func TestAPartReadsTheSourcesAlone(t *testing.T) {
	s := monthsSchema(t)
	part := s.Part([]int{6}) // least
	path := writeFile(t, "t.csv", "c,a\n5,7\n,1\n")
	tab, err := Read(context.Background(), part, Options{Labels: LabelsIgnored}, path)
	if err != nil {
		t.Fatal(err)
	}
	if number(tab, 5, 0) != 5 || number(tab, 5, 1) != -3 || !reflect.DeepEqual(tab.Cols[2], column.Column{}) {
		t.Errorf("got %+v", tab)
	}
}

// What is added to a file has no name that the schema derives, for a file that has
// one is refused.
func TestAppendBesideDerivedColumns(t *testing.T) {
	s := monthsSchema(t)
	for _, header := range []bool{true, false} {
		s.Dialect.Header = header
		in, want := "1,u,0,2,6,x\n", "1,u,0,2,6,x,9\n"
		if header {
			in, want = "a,town,y,b,c,id\n"+in, "a,town,y,b,c,id,most_2\n"+want
		}
		var out bytes.Buffer
		added := []Added{{Name: "most", Number: func(int) float64 { return 9 }}}
		if err := CopyRows(context.Background(), s, Options{}, &out, CSV, added, nil,
			writeFile(t, "t.csv", in)); err != nil || out.String() != want {
			t.Errorf("got %q, error %v, want %q", out.String(), err, want)
		}
	}
}

func TestDerivedColumnsThatNoFileDeclares(t *testing.T) {
	for name, spoil := range map[string]func(*schema.Schema){
		"public of a private source": func(s *schema.Schema) { s.Columns[5].Role = schema.Public },
		"ignored":                    func(s *schema.Schema) { s.Columns[5].Role = schema.Ignored },
		"of an ignored source":       func(s *schema.Schema) { s.Columns[2].Role = schema.Ignored },
		"of a category":              func(s *schema.Schema) { s.Columns[5].From = []int{0, 1} },
		"of a derived column":        func(s *schema.Schema) { s.Columns[6].From = []int{0, 5} },
		"of nothing":                 func(s *schema.Schema) { s.Columns[5].From = nil },
		"unknown":                    func(s *schema.Schema) { s.Columns[5].Derived = "sum" },
		"before a file's column":     func(s *schema.Schema) { s.Columns[8] = s.Columns[0] },
	} {
		s := monthsSchema(t)
		spoil(s)
		_, err := Read(context.Background(), s, Options{}, writeFile(t, "t.csv", "a,town,y,b,c\n1,u,0,2,6\n"))
		if !errors.As(err, new(*dp.ParamError)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
