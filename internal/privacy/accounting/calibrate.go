// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// GaussianDelta is δ(ε) of Gaussian noise of price ρ, by the closed form Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 −
// ε/μ), μ = √(2ρ) (Balle and Wang 2018, Theorem 8). A single Gaussian release and a composition of
// several cost the same if the sums of their ρ are equal. It covers one release by mech.Gaussian, and
// Within any number.
//
// Claim G-ACC-4. It is never below the closed form.
func GaussianDelta(rho dp.Rho, epsilon float64) float64 { return gaussianDelta(rho, epsilon, 1) }

// gaussianDelta also allows for the rounding to grids in each of the releases, which may change a
// loss, and a probability relatively, by the same amount.
func gaussianDelta(rho dp.Rho, epsilon float64, releases int) float64 {
	slack := float64(releases) * gridSlack
	if !(rho >= 0 && epsilon >= 0) {
		return 1
	}
	if rho == 0 {
		return 0
	}
	mu := meanShift(rho)
	e := epsilon - 2*slack // above −μ²/2, so that b > 0
	a, b := (e/mu-mu/2)/math.Sqrt2, (e/mu+mu/2)/math.Sqrt2
	// e^ε·erfc(b) = e^(−a²)·(e^(b²)·erfc(b)): no overflow, no loss in the tail.
	first, second := math.Erfc(a), math.Exp(-a*a)*scaledTail(b)
	if a > farOut { // the difference of two numbers below 1e-170
		return 1e-170
	}
	// Errors of a few units in each, and of the square in the exponent.
	return min((first-second)/2+8*unit*(1+a*a+b)*(first+second)+2*slack*first, 1)
}

const (
	farOut   = 20 // standard deviations beyond which a tail is below every δ
	nearTail = 5  // below this, e^(x²) is accurate enough
)

// scaledTail is e^(x²)·erfc(x) for x ≥ 0.
func scaledTail(x float64) float64 {
	if x < nearTail {
		return math.Exp(x*x) * math.Erfc(x)
	}
	// Laplace's continued fraction, to convergence.
	f := 0.0
	for k := 60; k > 0; k-- {
		f = float64(k) / 2 / (x + f)
	}
	return 1 / (x + f) / math.Sqrt(math.Pi)
}

// GaussianRho returns the largest ρ that Gaussian releases may cost together and still be (ε, δ)-DP:
// the analytic calibration. Noise of price ρ has σ = sensitivity/√(2ρ).
func GaussianRho(epsilon, delta float64) (dp.Rho, error) {
	if err := checkTarget("gaussian", epsilon, delta); err != nil {
		return 0, err
	}
	return findLargest("gaussian", dp.MaxRho, func(r dp.Rho) (bool, error) {
		return GaussianDelta(r, epsilon) <= delta, nil
	})
}

// findLargest finds the largest allowed price, to within one part in 2^20 or one unit, whichever is
// larger. The returned price itself was allowed.
func findLargest[N dp.Epsilon | dp.Rho](op string, most N, allowed func(N) (bool, error)) (N, error) {
	if ok, err := allowed(most); ok || err != nil {
		return most, err
	}
	lo, hi := N(0), most
	for hi-lo > max(lo>>20, 1) {
		mid := lo + (hi-lo)/2
		if lo > 0 && hi/lo >= 2 || lo == 0 { // by size first
			mid = N(math.Sqrt(float64(max(lo, 1)) * float64(hi)))
			mid = min(max(mid, lo+1), hi-1)
		}
		ok, err := allowed(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0, &dp.ParamError{Op: op, Param: "target", Want: "must leave room for at least one unit of the price",
			Hint: "raise epsilon or delta, or measure less"}
	}
	return lo, nil
}

func checkTarget(op string, epsilon, delta float64) error {
	switch {
	case !(epsilon > 0 && epsilon <= dp.MaxEpsilon.Float()):
		return dp.Refuse(op, "epsilon", "must be > 0 and at most "+dp.MaxEpsilon.String(), epsilon)
	case !(delta > 0 && delta < 1):
		return dp.Refuse(op, "delta", "must be > 0 and < 1", delta)
	}
	return nil
}
