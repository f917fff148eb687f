// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// cellsOf is row i of cols as single cells.
func cellsOf(cols []column.Column, i int) []column.Cell {
	row := make([]column.Cell, len(cols))
	for j := range cols {
		switch {
		case cols[j].Codes.Len() == 0:
		case cols[j].Values != nil:
			row[j].Number = cols[j].Values[cols[j].Codes.At(i)]
			if cols[j].Marks != nil {
				row[j].Code = uint32(cols[j].Marks[cols[j].Codes.At(i)])
			}
		default:
			row[j].Code = cols[j].Codes.At(i)
		}
	}
	return row
}

// Single rows score as tables do, to the last bit, and without allocation,
// whatever the classifier.
func TestSingleRowsScoreAsTables(t *testing.T) {
	const rows = 500
	models := append(full(), voted(), fitted(), levelled(), two(levelled()), elected(), two(elected()), summed(), paired(),
		layered(), followed(), griddedThree(), marked(), markedGrids())
	for k, m := range models {
		t.Run(fmt.Sprint(k, " ", m.Learner), func(t *testing.T) {
			m, err := Unmarshal(mustMarshal(t, m)) // as it comes from a file
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.RowPredictor()
			if err != nil {
				t.Fatal(err)
			}
			cols := patients(rand.New(rand.NewPCG(5, uint64(k))), m.Schema, rows)
			want, err := m.Scores(cols, rows)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, m.Width())
			for i := range rows {
				if err := r.Scores(cellsOf(cols, i), got); err != nil {
					t.Fatal(err)
				}
				for c := range got {
					if w := want[i*len(got)+c]; math.Float64bits(got[c]) != math.Float64bits(w) {
						t.Fatalf("row %d, score %d: %v alone, %v in the table", i, c, got[c], w)
					}
				}
			}
			row := cellsOf(cols, 0)
			// The race detector, whose tests are the short ones, empties pools at random.
			if n := testing.AllocsPerRun(100, func() { r.Scores(row, got) }); n != 0 && !testing.Short() {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
