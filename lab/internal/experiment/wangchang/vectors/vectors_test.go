// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/lab/internal/census"
)

// TestVectorsAreTheCells reads a written table back and compares cell by cell
// with the dimensions' names.
func TestVectorsAreTheCells(t *testing.T) {
	tab := census.Generate(1, 3_000)
	v := New(tab)
	if v.Len() != tab.Rows || v.Dim() != Width || len(v.layout.names) != Width {
		t.Fatalf("%d vectors of %d numbers, %d names", v.Len(), v.Dim(), len(v.layout.names))
	}
	var text bytes.Buffer
	if err := census.WriteCSV(&text, tab); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(i int, column string) string {
		for c, name := range lines[0] {
			if name == column {
				return lines[i+1][c]
			}
		}
		t.Fatalf("there is no column %s", column)
		return ""
	}
	binary := 0
	seen := make([]bool, Width)
	var out [Width]float64
	for j := range Width {
		if v.Binary(j) {
			binary++
		}
	}
	if binary != 62 {
		t.Errorf("%d binary dimensions, want 62", binary)
	}
	for i := range tab.Rows {
		v.Row(i, out[:])
		ones := 0
		for j, x := range out {
			name := v.Name(j)
			if !v.Binary(j) {
				if want := scaled(t, name, cell(i, name)); math.Abs(x-want) > 1e-12 || !(x >= -1 && x <= 1) {
					t.Fatalf("row %d: %s = %g, want %g", i, name, x, want)
				}
				continue
			}
			cut := bytes.IndexByte([]byte(name), '=')
			if want := cell(i, name[:cut]) == name[cut+1:]; want != (x == 1) || !want && x != 0 {
				t.Fatalf("row %d: %s = %g", i, name, x)
			}
			if x == 1 {
				ones++
				seen[j] = true
			}
		}
		if ones != 9 {
			t.Fatalf("row %d has %d ones, want one for each of 9 columns", i, ones)
		}
	}
	for j, had := range seen {
		if v.Binary(j) && !had {
			t.Errorf("nobody in %d people is %s", tab.Rows, v.Name(j))
		}
	}
}

// scaled is a cell between the bounds of its column.
func scaled(t *testing.T, column, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string][2]float64{
		"age": {17, 90}, "weekly_hours": {0, 98}, "years_in_job": {0, 60},
		"capital_income": {0, math.Log1p(500_000)}, "sampling_weight": {40, 40 + 5*4095},
	}[column]
	if column == "capital_income" {
		x = math.Log1p(x)
	}
	return 2*(x-bounds[0])/(bounds[1]-bounds[0]) - 1
}

func TestSparseIsTheRow(t *testing.T) {
	v := New(census.Generate(3, 1_000))
	var at [NonZeros]uint8
	var value [NonZeros]float64
	var row, back [Width]float64
	for i := range v.Len() {
		v.Row(i, row[:])
		v.Sparse(i, &at, &value)
		clear(back[:])
		for k, j := range at {
			if k > 0 && at[k-1] >= j {
				t.Fatalf("row %d: dimensions %v do not ascend", i, at)
			}
			back[j] = value[k]
		}
		if back != row {
			t.Fatalf("row %d: %v is not %v", i, back, row)
		}
	}
}
