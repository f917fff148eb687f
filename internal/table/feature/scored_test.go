// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// Scores lie where a search among the edges puts them, whatever the widths of codes, for rows that
// are no whole number of batches.
func TestScoresLieBetweenEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const rows = 3*scoredBatch + 17
	narrow, wide := make([]uint8, rows), make([]uint16, rows)
	for i := range rows {
		narrow[i], wide[i] = uint8(random.IntN(3)), uint16(random.IntN(300))
	}
	cols := []column.Column{{Codes: column.Codes{U8: narrow}}, {Codes: column.Codes{U16: wide}}}
	steps := make([]float64, 300)
	for k := range steps {
		steps[k] = float64(random.IntN(9) - 4)
	}
	f := &Additive{Intercept: 0.5, Shapes: []Shape{{Bins: Bins{Codes: 3}, Steps: []float64{-1, 0, 2}},
		{Bins: Bins{Column: 1, Codes: 300}, Steps: steps}}}
	for _, edges := range [][]float64{nil, {0.5}, {-MaxStep, 0.5, 0.5, 1.5, MaxStep},
		{-4.5, -3.5, -2.5, -1.5, -1.5, 0, 0, 0.5, 1.5, 2, 3.5, 4, 5.5, 6.5}} {
		bins := CutScore(f, edges)
		out := make([]uint32, rows)
		bins.Bind(cols).Read(0, out, nil)
		late := make([]uint32, 5)
		bins.Bind(cols).Read(rows-5, late, nil)
		for i, got := range out {
			z := f.Intercept + f.Shapes[0].Steps[narrow[i]] + steps[wide[i]]
			want := sort.Search(len(edges), func(k int) bool { return z < edges[k] })
			if int(got) != want {
				t.Fatalf("row %d, score %v: bin %d of %v, want %d", i, z, got, edges, want)
			}
			if at := i - (rows - 5); at >= 0 && late[at] != got {
				t.Fatalf("row %d lies in bin %d where reading begins near it", i, late[at])
			}
		}
	}
}
