// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A mark has a bin of its own, behind those of amounts; without marks it lies where the default
// does.
func TestBinsOfMarks(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Kind: schema.Number, Lower: 0, Upper: 10, Missing: true,
		Special: []float64{96}}}}
	col := column.Column{Values: []float64{1, 3, 3, 3, 9}, Marks: []uint8{0, 0, 2, 1, 0}}
	bins := NewBins(s, 0, []float64{2, 5})
	if got := bins.ByCode(&col); bins.Len() != 5 || bins.Marks() != 2 || !slices.Equal(got, []uint32{0, 1, 4, 3, 2}) {
		t.Errorf("%d bins, %d of marks, %v", bins.Len(), bins.Marks(), got)
	}
	plain := bins.WithoutMarks()
	if got := plain.ByCode(&col); plain.Len() != 3 || !slices.Equal(got, []uint32{0, 1, 1, 1, 2}) {
		t.Errorf("%d bins, %v", plain.Len(), got)
	}
	col.Codes = column.Narrow([]uint32{2, 3, 0}, 5)
	grid := Grid{Axes: []Bins{bins}}
	out := make([]uint32, 3)
	grid.Bind([]column.Column{col}).Read(0, out, out)
	if grid.Cells() != 5 || !slices.Equal(out, []uint32{4, 3, 0}) {
		t.Errorf("%d cells, rows in %v", grid.Cells(), out)
	}
	// Linear learners take the default.
	sp, err := NewSpace(s, OneHot, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, v := sp.Cell(0, &col, 2); sp.Width() != 1 || v != -0.4 {
		t.Errorf("%d features, value %g", sp.Width(), v)
	}
}
