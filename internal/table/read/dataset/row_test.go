// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const rowSchema = `
name: t
unit: one row
relation: replace-one
file: {delimiter: ",", quote: "", header: false, trim: true, missing: ["?", "99"]}
columns:
  - {name: a, role: private, number: {lower: -5, upper: 50, default: 7}}
  - {name: b, role: private, number: {lower: 0, upper: 10, default: 1}}
  - {name: c, role: private, category: {levels: [x, "1", "true"], missing: true}}
  - {name: y, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
derived:
  - {name: middle, mean: [a, b]}
  - {name: top, largest: [a, b]}
  - {name: low, smallest: [b, a]}
`

// FuzzRowCoder codes a row alone, and in a table that is read from a file: whatever
// the cells, they mean the same, derived ones too.
func FuzzRowCoder(f *testing.F) {
	for _, seed := range [][3]string{{"1", "2", "x"}, {" 99 ", "-0", "?"}, {"1e9", "", "true"}, {"0x1", "NaN", " 1\t"},
		{"-1e-400", "+.5", "other"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s, err := schema.Parse([]byte(rowSchema))
	if err != nil {
		f.Fatal(err)
	}
	coder, err := coding.NewRowCoder(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		line := []byte(a + "," + b + "," + c + ",no\n")
		table, err := Read(t.Context(), s, Options{Stdin: bytes.NewReader(line)}, "-")
		if err != nil || table.Rows != 1 {
			t.Skip("no row of a file")
		}
		if bytes.Count(line, []byte(",")) != 3 || bytes.ContainsAny(line[:len(line)-1], "\n\r") {
			t.Skip("other cells")
		}
		row := make([]column.Cell, len(s.Columns))
		for i, cell := range []string{a, b, c} {
			if _, err := coder.Code(i, coding.TextCell(cell), row); err != nil {
				t.Fatal(err)
			}
		}
		coder.Derive(row)
		for j := range s.Columns {
			code := table.Cols[j].Codes.At(0)
			if s.Columns[j].Kind == schema.Category {
				if row[j].Code != code {
					t.Errorf("column %s: code %d alone, %d in the table", s.Columns[j].Name, row[j].Code, code)
				}
			} else if want := table.Cols[j].Values[code]; math.Float64bits(row[j].Number) != math.Float64bits(want) {
				t.Errorf("column %s: %v alone, %v in the table", s.Columns[j].Name, row[j].Number, want)
			}
		}
	})
}

// A number that a public column cannot hold is refused, and the refusal does not repeat it.
func TestRefusedCellsAreNotRepeated(t *testing.T) {
	s := parseSchema(t, strings.Replace(rowSchema, "private, number: {lower: -5, upper: 50, default: 7}",
		"public, number: {lower: -5, upper: 50}", 1))
	rc, err := coding.NewRowCoder(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []coding.Cell{coding.TextCell("471147 x"), coding.NumberCell(math.NaN()), {}} {
		_, err := rc.Code(0, cell, make([]column.Cell, len(s.Columns)))
		if err == nil || strings.Contains(err.Error(), "471147") || strings.Contains(err.Error(), "NaN") {
			t.Errorf("%+v: %v", cell, err)
		}
	}
}
