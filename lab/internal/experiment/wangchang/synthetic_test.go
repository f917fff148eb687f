// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// TestSyntheticLaw: as many rows of each class, to within the relabelled; the
// last ten attributes are linear in the first ten, exactly, and bits and table
// are the same rows.
func TestSyntheticLaw(t *testing.T) {
	const n = 20_000
	a, b := mat.NewDense(n, meaningful, nil), mat.NewDense(n, dependent, nil)
	ones := 0
	drawSynthetic(n, replay.Seeded(1, "s"), func(i int, x *[syntheticD]float64, class uint8) {
		a.SetRow(i, x[:meaningful])
		b.SetRow(i, x[meaningful:])
		ones += int(class)
	})
	// One in a hundred is drawn again: 200 labels, standard deviation 7.
	if ones < n/2-50 || ones > n/2+50 {
		t.Errorf("%d rows of %d are of class 1", ones, n)
	}
	var by, rest mat.Dense
	if err := by.Solve(a, b); err != nil {
		t.Fatal(err)
	}
	rest.Mul(a, &by)
	rest.Sub(&rest, b)
	if off := mat.Norm(&rest, 2); !(off < 1e-6) {
		t.Errorf("the dependent attributes are %g away from combinations of the others", off)
	}
	binary, tab := syntheticBits(n, replay.Seeded(1, "s")), syntheticTable(n, replay.Seeded(1, "s"))
	for i := range n {
		for j := range syntheticD {
			x := a.At(i, j%meaningful)
			if j >= meaningful {
				x = b.At(i, j-meaningful)
			}
			if (binary.is[i*syntheticD+j] == 1) != (x > 0) {
				t.Fatalf("row %d: bit %d of %g", i, j, x)
			}
			if got := tab.Cols[j].Values[tab.Cols[j].Codes.At(i)]; math.Abs(got-min(max(x, -8), 8)) > 1.0/32+1e-9 {
				t.Fatalf("row %d: column %d is %g for %g", i, j, got, x)
			}
		}
		if tab.Labels[i] != binary.y[i] {
			t.Fatalf("row %d has two classes", i)
		}
	}
}
