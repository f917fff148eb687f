// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Up to the most rows that a person may count for, a release moves by at least so many times as far
// as by one row, and is sized for no more than the rounding above that.
func TestSensitivityGrowsWithEveryBound(t *testing.T) {
	for _, most := range []int{1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 65_535, 65_536, 65_537,
		schema.MaxPersonRows - 1, schema.MaxPersonRows} {
		for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
			moves, got := int64(1), guard.OneCell(relation).Times(most)
			if relation == dp.ReplaceOne {
				moves = 2
			}
			square, l2 := big.NewRat(moves*int64(most)*int64(most), 1), new(big.Rat).SetFloat64(got.L2)
			over := new(big.Rat).Mul(l2, l2)
			if got.L1 != float64(moves*int64(most)) || over.Cmp(square) < 0 ||
				over.Sub(over, square).Cmp(new(big.Rat).Mul(square, big.NewRat(1, 1<<50))) > 0 {
				t.Errorf("%s, %d rows: sized for %.17g and %.17g", relation, most, got.L1, got.L2)
			}
		}
	}
}

// So many columns as fit into the counts are counted in all of their cells, one more is refused.
func TestAsManyCountsAsFit(t *testing.T) {
	for columns, want := range map[int]bool{254: true, 255: true, 256: false} {
		s := wideSchema(t, columns)
		pl, err := (Params{Epsilon: 100 * dp.Nano}).Plan(s, 100_000)
		if (err == nil) != want {
			t.Fatalf("%d columns: %v", columns, err)
		}
		if err != nil {
			continue
		}
		counts := 0
		for i := range pl.counts.asking {
			counts += pl.counts.asking[i].fine.Len() + fineRuns
		}
		if got := pl.countMoves().L1; counts != columns*(fineCells+fineRuns) || got != float64(4*columns) {
			t.Errorf("%d columns have %d counts, sized for %g", columns, counts, got)
		}
	}
	for _, n := range []int{fineRuns, fineRuns + 1, 255, 256, 257, fineCells - 1, fineCells, fineCells + 1} {
		size := make([]int, fineRuns)
		for i := range n {
			if r := runOf(i, n); i > 0 && (r < runOf(i-1, n) || r > runOf(i-1, n)+1) {
				t.Errorf("cell %d of %d is in run %d", i, n, r)
			}
			size[runOf(i, n)]++
		}
		for r, cells := range size {
			if cells < n/fineRuns || cells > n/fineRuns+1 {
				t.Errorf("run %d of %d cells has %d", r, n, cells)
			}
		}
	}
}

// wideSchema has so many private columns that ask for their bins by counts.
func wideSchema(t *testing.T, columns int) *schema.Schema {
	t.Helper()
	text := "name: w\nunit: one row\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	for k := range columns {
		text += fmt.Sprintf("  - {name: c%d, role: private, "+
			"number: {lower: 0, upper: 1e4, bins: quantiles, default: 0}}\n", k)
	}
	s, err := schema.Parse([]byte(text +
		"  - {name: y, role: private, label: {levels: [n, p], positive: p, default: n}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
