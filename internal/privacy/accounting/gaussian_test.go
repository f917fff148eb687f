// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

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
	for _, x := range []float64{nearTail - 0.1, nearTail, nearTail + 0.1} { // both branches
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
		each := must(findLargest("", dp.MaxRho, func(price dp.Rho) (bool, error) {
			return compose(Use{must(Gaussian(price)), 100}).Delta(c[0]) <= c[1], nil
		}))
		if x := 100 * each.Float() / r.Float(); !(x <= 1 && x > 0.995) {
			t.Errorf("a hundred for %v: ρ = %s each, %g of what one may cost", c, each, x)
		}
	}
}
