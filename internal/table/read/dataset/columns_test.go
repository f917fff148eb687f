// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

const codedSchema = `name: coded
unit: one row
relation: replace-one
file: {delimiter: ";", quote: '"', header: true, decimal: ",", missing: ["", "0,5"]}
ignored: ["*_id"]
columns:
  - {name: smoker, role: private, category: {levels: yes_no, missing: true}}
  - name: diagnosis
    role: private
    category: {levels: [{value: sugar, prefixes: ["250", E1]}, {value: eye, aliases: [x], prefixes: ["2505"]}]}
  - {name: street, role: private, category: {levels: [Main], buckets: 1000}}
  - {name: bmi, role: private, number: {lower: 0, upper: 100, default: 22}}
  - {name: again, role: public, label: {positive: ["<30"], negative: [">30", "NO"]}}
`

// What cells mean where levels have prefixes, values fall into buckets and fractions begin with a
// comma. The buckets are those of FNV-1a's published test vectors.
func TestPrefixesBucketsAndCommas(t *testing.T) {
	s := parseSchema(t, codedSchema)
	rows := []struct {
		cells [4]string
		codes [3]uint32
		bmi   float64
	}{
		{[4]string{"yes", "250", "Main", "20,25"}, [3]uint32{1, 0, 0}, 20.25},
		{[4]string{"N", "250.01", "", "-3"}, [3]uint32{0, 0, 1001}, 0},
		{[4]string{"1", "25050", "a", "1.5"}, [3]uint32{1, 1, 1 + 0xaf63dc4c8601ec8c%1000}, 22},
		{[4]string{"False", "x", "foobar", "1,2,3"}, [3]uint32{0, 1, 1 + 0x85944171f73967e8%1000}, 22},
		{[4]string{"perhaps", "E119", "b", ",50"}, [3]uint32{2, 0, 1 + 0xaf63df4c8601f1a5%1000}, 22},
		{[4]string{"", "25", "a", ",25"}, [3]uint32{3, 2, 1 + 0xaf63dc4c8601ec8c%1000}, 0.25},
		{[4]string{"", "", "a", strings.Repeat("1", 65)}, [3]uint32{3, 2, 1 + 0xaf63dc4c8601ec8c%1000}, 100},
	}
	var text strings.Builder
	text.WriteString("row_id;smoker;diagnosis;street;bmi;again;_id\n")
	for i, row := range rows {
		fmt.Fprintf(&text, "%d;%s;%s\n", i, strings.Join(row.cells[:], ";"), []string{"<30;1", ">30;2", "NO;"}[i%3])
	}
	rc, err := coding.NewRowCoder(s)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := Read(context.Background(), s, Options{Stdin: strings.NewReader(text.String())}, "-")
	if err != nil {
		t.Fatal(err)
	}
	one := make([]column.Cell, len(s.Columns))
	for i, row := range rows {
		for j, want := range row.codes {
			if got := tab.Cols[j].Codes.At(i); int(got) != int(want) {
				t.Errorf("row %d, column %d: code %d, want %d", i, j, got, want)
			}
		}
		if x := tab.Cols[3].Values[tab.Cols[3].Codes.At(i)]; x != row.bmi {
			t.Errorf("row %d: %g, want %g", i, x, row.bmi)
		}
		for j, cell := range row.cells {
			if _, err := rc.Code(j, coding.TextCell(cell), one); err != nil {
				t.Fatal(err)
			}
			if j < 3 && one[j].Code != tab.Cols[j].Codes.At(i) || j == 3 && one[j].Number != row.bmi {
				t.Errorf("row %d, column %d: %+v alone", i, j, one[j])
			}
		}
		if want := []uint8{1, 0, 0}[i%3]; tab.Labels[i] != want {
			t.Errorf("row %d: label %d, want %d", i, tab.Labels[i], want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { rc.Code(3, coding.TextCell("20,25"), one) }); n != 0 && !testing.Short() {
		t.Errorf("%v allocations", n)
	}
}

// A column that no pattern names is still a fault.
func TestPatternsIgnoreNothingElse(t *testing.T) {
	s := parseSchema(t, codedSchema)
	for _, header := range []string{"id;smoker;diagnosis;street;bmi;again", "smoker_id;diagnosis;street;bmi;again"} {
		if _, err := Read(context.Background(), s, Options{Stdin: strings.NewReader(header + "\n")}, "-"); err == nil {
			t.Errorf("%s is read", header)
		}
	}
}

// What is written beside the cells of a file has its comma, too, and reads back.
func TestColumnsAreAppendedWithCommas(t *testing.T) {
	s := parseSchema(t, codedSchema)
	path := filepath.Join(t.TempDir(), "d.csv")
	text := "smoker;diagnosis;street;bmi;again\nyes;250;a;1,5;NO\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	half := Added{Name: "score", Number: func(int) float64 { return 0.25 }}
	var out bytes.Buffer
	if err := CopyRows(context.Background(), s, Options{}, &out, CSV, []Added{half}, nil, path); err != nil {
		t.Fatal(err)
	}
	if want := "smoker;diagnosis;street;bmi;again;score\nyes;250;a;1,5;NO;0,25\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	if err := CopyRows(context.Background(), s, Options{}, &out, Parquet, []Added{half}, nil, path); err != nil {
		t.Fatal(err)
	}
	parquet := filepath.Join(t.TempDir(), "d.parquet")
	if err := os.WriteFile(parquet, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Ignored = []string{"score"}
	tab, err := Read(context.Background(), s, Options{}, parquet)
	if err != nil {
		t.Fatal(err)
	}
	if x := tab.Cols[3].Values[0]; x != 1.5 {
		t.Errorf("%g in Parquet", x)
	}
}
