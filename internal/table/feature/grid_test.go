// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// A row's cell is one bin of each axis, the first counting fastest.
func TestGridFindsCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const rows = 500
	numbers := []float64{-2, -1, 0, 1, 2, 5}
	a, b := make([]uint32, rows), make([]uint32, rows)
	for i := range a {
		a[i], b[i] = uint32(r.IntN(len(numbers))), uint32(r.IntN(4))
	}
	cols := []column.Column{{}, {Codes: column.Narrow(a, 6), Values: numbers}, {Codes: column.Narrow(b, 1<<9)}}
	g := Grid{Axes: []Bins{NewGroups(2, []uint32{1, 0, 2, 0}, 3), {Column: 1, Edges: []float64{0, 1.5}}}}
	if g.Cells() != 9 {
		t.Fatalf("%d cells, want 9", g.Cells())
	}
	out := make([]uint32, rows-7)
	g.Bind(cols).Read(7, out, make([]uint32, rows))
	for i, got := range out {
		second := 0
		if x := numbers[a[7+i]]; x >= 1.5 {
			second = 2
		} else if x >= 0 {
			second = 1
		}
		if want := []int{1, 0, 2, 0}[b[7+i]] + 3*second; int(got) != want {
			t.Fatalf("row %d lies in cell %d, want %d", 7+i, got, want)
		}
	}
}
