// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// The conversion against a search over all α, and against Gaussian noise,
// which has the ρ but costs less.
func TestRhoConversionBothWays(t *testing.T) {
	for _, r := range []float64{1e-9, 1e-4, 0.01, 0.5, 5} {
		for _, sigmas := range []float64{0.5, 2, 5, 8} {
			e := r + sigmas*math.Sqrt(2*r)
			best := 1.0
			for x := -12.0; x < 16; x += 1e-3 {
				a := 1 + math.Exp(x)
				best = min(best, math.Exp((a-1)*(a*r-e)+a*math.Log1p(-1/a)-math.Log(a-1)))
			}
			d := RhoDelta(rho(r), e)
			within(t, fmt.Sprintf("δ of ρ=%g at %g", r, e), d, best, 1e-5, 1e-9)
			if g := GaussianDelta(rho(r), e); d < g {
				t.Errorf("ρ=%g at %g: zCDP says %g, less than Gaussian noise %g", r, e, d, g)
			}
			if d < 1 {
				within(t, fmt.Sprintf("back again, ρ=%g", r), RhoEpsilon(rho(r), d), e, 1e-12, 1e-6)
			}
		}
	}
	for _, c := range [][2]float64{{1, 1e-6}, {0.1, 1e-9}, {8, 1e-5}} {
		r := must(RhoFor(c[0], c[1]))
		if RhoDelta(r, c[0]) > c[1] || RhoDelta(r+r>>18+2, c[0]) <= c[1] {
			t.Errorf("ρ for %v is %s", c, r)
		}
	}
}

func TestRhoAddsUpwards(t *testing.T) {
	for e, want := range map[dp.Epsilon]dp.Rho{0: 0, 1: 1, 1000: 1, 2000: 2, 2001: 3, dp.Nano: dp.Pico / 2,
		dp.Nano / 10: dp.Pico / 200} {
		if got := must(PureRho(e)); got != want {
			t.Errorf("PureRho(%d) = %d, want %d", e, got, want)
		}
	}
	if got := must(ExponentialRho(dp.Nano + 1)); got != dp.Pico/8+251 {
		t.Errorf("ExponentialRho = %d", got)
	}
	bill := []dp.Event{{Epsilon: dp.Nano}, {Epsilon: dp.Infinite, Rho: 7}, {Epsilon: dp.Infinite, Rho: 11}}
	if got := must(TotalRho(bill)); got != dp.Pico/2+18 {
		t.Errorf("TotalRho = %d", got)
	}
	for _, bad := range [][]dp.Event{{{Epsilon: dp.Infinite}}, {{Rho: -1}}, {{Rho: dp.MaxRho}, {Rho: 1}},
		{{Epsilon: -1}}} {
		if got, err := TotalRho(bad); err == nil {
			t.Errorf("TotalRho(%v) = %d", bad, got)
		}
	}
}

// The closed form against quadrature, far into the tail and for every size.
func TestGaussianDelta(t *testing.T) {
	for _, r := range []float64{1e-6, 0.02, 0.5, 20} {
		for _, sigmas := range []float64{-1, 0, 1, 3, 6, 8} {
			e := r + sigmas*math.Sqrt(2*r)
			if e < 0 {
				continue
			}
			within(t, fmt.Sprintf("ρ=%g at %g", r, e), GaussianDelta(rho(r), e), deltaOf(e, gaussianLaw(r)), 1e-4, 1e-4)
		}
	}
	for _, x := range []float64{4.9, 5, 5.1} { // both branches
		within(t, "scaled tail", scaledTail(x), math.Exp(x*x)*math.Erfc(x), 1e-13, 1e-13)
	}
}

func TestCalibration(t *testing.T) {
	for _, c := range [][2]float64{{1, 1e-6}, {0.01, 1e-9}, {5, 1e-3}} {
		r := must(GaussianRho(c[0], c[1]))
		if GaussianDelta(r, c[0]) > c[1] || GaussianDelta(r+r>>18+2, c[0]) <= c[1] {
			t.Errorf("gaussian for %v: ρ = %s", c, r)
		}
		// Composed, it is what the closed form says, divided by the uses.
		each := must(Calibrate(c[0], c[1], dp.MaxRho, func(price dp.Rho) ([]Use, error) {
			p, err := Gaussian(price)
			return []Use{{p, 100}}, err
		}))
		if x := 100 * each.Float() / r.Float(); !(x <= 1 && x > 0.995) {
			t.Errorf("a hundred for %v: ρ = %s each, %g of what one may cost", c, each, x)
		}
	}
	// Room left beside a fixed release.
	l := Use{must(Laplace(eps(0.5))), 1}
	e := must(Calibrate(1, 1e-6, dp.Epsilon(dp.Nano), func(price dp.Epsilon) ([]Use, error) {
		p, err := Pure(price)
		return []Use{l, {p, 10}}, err
	}))
	p := must(Pure(e))
	if c := compose(l, Use{p, 10}); c.Delta(1) > 1e-6 || e < dp.Nano/20 {
		t.Errorf("ten beside another: ε = %s each, δ = %g", e, c.Delta(1))
	}
}
