// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// Every choice is taken up to its bounds and refused beyond, and the rule for the ridge stays within
// them.
func TestChoicesReachTheirBounds(t *testing.T) {
	try := func(name string, x float64, want bool, set func(*Params)) {
		t.Helper()
		p := settings()["objective"]
		set(&p)
		if _, err := p.Plan(census.Schema(), 100); (err == nil) != want {
			t.Errorf("%s %g: %v", name, x, err)
		}
	}
	for x, want := range map[float64]bool{math.Nextafter(perturbed.MinWidth, 0): false, perturbed.MinWidth: true, perturbed.MaxWidth: true,
		math.Nextafter(perturbed.MaxWidth, math.Inf(1)): false} {
		try("width", x, want, func(p *Params) { p.Loss, p.Width = Huber, x })
	}
	for x, want := range map[float64]bool{math.Nextafter(perturbed.MinReg, 0): false, perturbed.MinReg: true, perturbed.MaxReg: true,
		math.Nextafter(perturbed.MaxReg, math.Inf(1)): false} {
		try("reg", x, want, func(p *Params) { p.Reg = x })
	}
	for x, want := range map[float64]bool{perturbed.MinNorm: false, math.Nextafter(perturbed.MinNorm, 1): true, 1: true,
		math.Nextafter(1, 2): false} {
		try("norm", x, want, func(p *Params) { p.Norm = x })
	}
	for crowd, want := range map[float64]float64{0.1: objectiveRidge * 0.1 * 0.1,
		math.Sqrt(float64(mostRidge) / objectiveRidge): mostRidge, 1: mostRidge, 1e9: mostRidge} {
		if got := DefaultReg(Objective, 1e6, crowd, dp.Nano); math.Abs(got-want) > 1e-9 {
			t.Errorf("crowd %g: a ridge of %g, want %g", crowd, got, want)
		}
	}
	most := 0.25 / math.Expm1(1e-9/3)
	for n, want := range map[int]float64{1: perturbed.MaxReg, 700: perturbed.MaxReg, 800: most / 800, 1 << 50: most / (1 << 50), 1 << 60: perturbed.MinReg} {
		if got := DefaultReg(Objective, n, 0, 1); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d rows: a ridge of %g, want %g", n, got, want)
		}
	}
}
