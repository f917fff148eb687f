// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// A ridge is taken from its smallest to its largest and refused beyond, and the rule stays within its
// bounds at every price and every number of rows.
func TestRidgesReachTheirBounds(t *testing.T) {
	p := settings()["gamma"]
	for reg, want := range map[float64]bool{math.Nextafter(minReg, 0): false, minReg: true, maxReg: true,
		math.Nextafter(maxReg, math.Inf(1)): false} {
		p.Reg = reg
		pl, err := p.Plan(census.Schema(), 100)
		if (err == nil) != want {
			t.Errorf("a ridge of %g: %v", reg, err)
		}
		if err == nil && pl.ridgeFor(100) != reg {
			t.Errorf("a ridge of %g becomes %g", reg, pl.ridgeFor(100))
		}
	}
	p.Reg = 0
	seen := map[string]bool{}
	for _, eps := range []dp.Epsilon{1, dp.Nano / 1000, dp.Nano / 10, dp.Nano, 10 * dp.Nano, dp.MaxEpsilon} {
		for _, n := range []int{1, 10, 99, 1000, 49_999, 50_000, 50_001, 199_999, 200_001, 1 << 30, 1 << 40} {
			p.Epsilon = eps
			pl, err := p.Plan(census.Schema(), n)
			if err != nil {
				t.Fatal(err)
			}
			noise := pl.noiseLength(n)
			want := 10 * noise * noise
			switch {
			case want > mostRidge:
				want = mostRidge
				seen["most"] = true
			case want < 0.1/float64(n):
				want = 0.1 / float64(n)
				seen["least"] = true
			default:
				seen["between"] = true
			}
			if want < minReg {
				want = minReg
				seen["bound"] = true
			}
			if got := pl.ridgeFor(n); got != want {
				t.Errorf("%s, %d rows: a ridge of %g, want %g", eps, n, got, want)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("only %v were tried", seen)
	}
}
