// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// A problem is taken at each of its bounds, and refused beyond.
func TestProblemsBeyondTheirBoundsAreRefused(t *testing.T) {
	up, down := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }, func(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
	s := census.Schema()
	for _, c := range []struct {
		what       string
		set        func(p *Problem, x float64)
		in, beyond []float64
	}{
		{"reg", func(p *Problem, x float64) { p.Reg = x }, []float64{MinReg, MaxReg}, []float64{down(MinReg), up(MaxReg), 0, -1, math.NaN(), math.Inf(1)}},
		{"width", func(p *Problem, x float64) { p.Loss.Huber = x }, []float64{0, MinWidth, MaxWidth},
			[]float64{down(MinWidth), up(MaxWidth), -MinWidth, math.NaN(), math.Inf(1)}},
		{"norm", func(p *Problem, x float64) { p.Norm = x }, []float64{up(MinNorm), 1}, []float64{MinNorm, up(1), 0, -1, math.NaN()}},
		{"epsilon", func(p *Problem, x float64) { p.Epsilon = dp.Epsilon(x) }, []float64{1, dp.Nano}, []float64{0, -1}},
		{"rest", func(p *Problem, x float64) { p.Rest = dp.Epsilon(x) }, []float64{1, dp.Nano}, []float64{0, -1}},
	} {
		for _, x := range c.in {
			p := problem(t, "objective", s)
			if c.set(p, x); p.check(dp.ReplaceOne) != nil {
				t.Errorf("%s: %g is refused", c.what, x)
			}
		}
		for _, x := range c.beyond {
			p := problem(t, "objective", s)
			if c.set(p, x); p.check(dp.ReplaceOne) == nil {
				t.Errorf("%s: %g is taken", c.what, x)
			}
		}
	}
	if problem(t, "objective", s).check(dp.AddRemove) == nil {
		t.Error("rows that come and go are taken")
	}
}
