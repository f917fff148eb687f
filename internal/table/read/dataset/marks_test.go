// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const markedSchema = `name: marked
unit: one row
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: ["", "?", 999]}
columns:
  - {name: x, role: private, number: {lower: 0, upper: 100, default: 40, special: [96, -1], missing: true}}
  - {name: "y", role: private, number: {lower: 0, upper: 100, default: 40, special: [96]}}
  - {name: "z", role: private, number: {lower: 0, upper: 100, default: 40}}
  - {name: l, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
derived:
  - {name: top, largest: [x, "y"]}
`

func parseSchema(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// amountAndMark is a cell of a number column, as "amount" or "amount/mark".
func amountAndMark(c *column.Column, i int) string {
	code := c.Codes.At(i)
	if c.Marks == nil || c.Marks[code] == 0 {
		return fmt.Sprint(c.Values[code])
	}
	return fmt.Sprint(c.Values[code], "/", c.Marks[code])
}

// A special value, wherever it lies, and a missing or unreadable cell are marks if they are
// declared; who does not look at marks finds the default. Single rows and rows in memory agree.
func TestSpecialAndMissingCells(t *testing.T) {
	s := parseSchema(t, markedSchema)
	cells := []string{"0", "96", "96.0", "-1", "-2", "", "?", "999", "old", "101", "1e400", "nan", "40", "9.6e1"}
	want := [][]string{ // of x, y and z
		{"0", "40/1", "40/1", "40/2", "0", "40/3", "40/3", "40/3", "40/3", "100", "40/3", "40/3", "40", "40/1"},
		{"0", "40/1", "40/1", "0", "0", "40", "40", "40", "40", "100", "40", "40", "40", "40/1"},
		{"0", "96", "96", "0", "0", "40", "40", "40", "40", "100", "40", "40", "40", "96"},
	}
	text := "x,y,z,l\n"
	for _, cell := range cells {
		text += strings.Repeat(cell+",", 3) + "no\n"
	}
	tab, err := Read(context.Background(), s, Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	rc, err := coding.NewRowCoder(s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(context.Background(), s, []string{"x", "y", "z"})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]column.Cell, len(s.Columns))
	for i, cell := range cells {
		for j := range want {
			got := amountAndMark(&tab.Cols[j], i)
			if got != want[j][i] {
				t.Errorf("column %d, cell %q: %s, want %s", j, cell, got, want[j][i])
			}
			if _, err := rc.Code(j, coding.TextCell(cell), row); err != nil {
				t.Fatal(err)
			}
			alone := fmt.Sprint(row[j].Number)
			if row[j].Code > 0 {
				alone = fmt.Sprint(row[j].Number, "/", row[j].Code)
			}
			if alone != got {
				t.Errorf("column %d, cell %q: %s alone, %s in the table", j, cell, alone, got)
			}
		}
		one := coding.TextCell(cell)
		if err := b.Add([]coding.Cell{one, one, one}); err != nil {
			t.Fatal(err)
		}
		if x := tab.Cols[3].Values[tab.Cols[3].Codes.At(i)]; x < 0 || x > 100 || tab.Cols[3].Marks != nil {
			t.Errorf("cell %q: derived %g", cell, x)
		}
	}
	built, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		if got := amountAndMark(&built.Cols[0], i); got != want[0][i] {
			t.Errorf("row %d in memory: %s, want %s", i, got, want[0][i])
		}
	}
	// Null, NaN, numbers and truth values of programs.
	for _, c := range []struct {
		cell coding.Cell
		want string
	}{{coding.Cell{}, "40/3"}, {coding.NumberCell(96), "40/1"}, {coding.NumberCell(999), "40/3"},
		{coding.TruthCell(true), "1/0"}} {
		if _, err := rc.Code(0, c.cell, row); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%g/%d", row[0].Number, row[0].Code); got != c.want {
			t.Errorf("%+v: %s, want %s", c.cell, got, c.want)
		}
	}
}

// Whether a column has marks is the schema's to say, not the rows'. Parts of a table keep them.
func TestMarksOfParts(t *testing.T) {
	s := parseSchema(t, markedSchema)
	text := "x,y,z,l\n1,1,1,no\n96,2,3,no\n?,4,5,no\n"
	tab, err := Read(context.Background(), s, Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]int{{0}, {2, 1}, {1, 0, 2}} {
		part := tab.Subset(rows)
		for range 2 {
			for k, i := range rows {
				if got, want := amountAndMark(&part.Cols[0], k), amountAndMark(&tab.Cols[0], i); got != want {
					t.Errorf("rows %v: %s, want %s", rows, got, want)
				}
			}
			part.Forget()
		}
		if part.Cols[0].Marks == nil || part.Cols[1].Marks == nil || part.Cols[2].Marks != nil {
			t.Errorf("rows %v: marks %v, %v and %v", rows, part.Cols[0].Marks, part.Cols[1].Marks, part.Cols[2].Marks)
		}
	}
	if other := tab.Subset([]int{0}); !slices.Equal(other.Cols[0].Marks, tab.Cols[0].Marks) {
		t.Error("a subset has other marks")
	}
}
