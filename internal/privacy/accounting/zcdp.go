// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// TotalRho adds up ρ: zCDP composes by addition, adaptively too. Releases with
// a pure ε count as PureRho says. It is an error when the sum exceeds the
// largest ρ there is.
func TotalRho(bill []dp.Event) (sum dp.Rho, err error) {
	for i, e := range bill {
		rho := e.Rho
		if rho == 0 {
			if rho, err = PureRho(e.Epsilon); err != nil {
				return 0, fmt.Errorf("line %d of the bill: %w", i, err)
			}
		}
		if rho < 0 || rho > dp.MaxRho-sum {
			return 0, &dp.ParamError{Op: "total rho", Param: "rho", Want: "must be at least 0 and add up to at most " +
				dp.MaxRho.String(), Got: rho, Hint: fmt.Sprintf("line %d of the bill", i)}
		}
		sum += rho
	}
	return sum, nil
}

// PureRho is ε²/2 rounded up: what an (ε, 0)-DP release costs under zCDP (Bun
// and Steinke 2016, Proposition 1.4).
func PureRho(eps dp.Epsilon) (dp.Rho, error) { return squareEpsilon("pure rho", eps, 2) }

// ExponentialRho is ε²/8 rounded up: what an ε-bounded-range release, such as
// an exponential mechanism's, costs under zCDP (Cesar and Rogers 2021).
func ExponentialRho(eps dp.Epsilon) (dp.Rho, error) { return squareEpsilon("exponential rho", eps, 8) }

// squareEpsilon is ⌈(ε_nano/1e9)²/over · 1e12⌉ = ⌈ε_nano²/(over·1e6)⌉.
func squareEpsilon(op string, eps dp.Epsilon, over int64) (dp.Rho, error) {
	if eps < 0 || eps > 44*dp.Nano { // 44²/2 < MaxRho
		return 0, &dp.ParamError{Op: op, Param: "epsilon", Want: "must be at least 0 and at most 44", Got: eps}
	}
	n, d := new(big.Int).SetInt64(int64(eps)), big.NewInt(over*1_000_000)
	n.Mul(n, n).Add(n, d).Sub(n, big.NewInt(1))
	return dp.Rho(n.Div(n, d).Int64()), nil
}

// RhoDelta is a δ such that ρ-zCDP implies (ε, δ)-DP, by the tight conversion
// δ = min over α > 1 of e^((α−1)(αρ−ε))/(α−1)·(1−1/α)^α (Canonne, Kamath,
// Steinke 2020, Corollary 13). Gaussian and Compose say less for Gaussian noise.
//
// Claim G-ACC-3. The δ, and RhoEpsilon's ε, are never below the conversion's.
func RhoDelta(rho dp.Rho, epsilon float64) float64 {
	if !(rho >= 0 && epsilon >= 0) || math.IsInf(epsilon, 1) {
		return 1
	}
	if rho == 0 {
		return 0
	}
	r := rho.Float() * (1 + 2*unit)
	at := func(x float64) float64 { // log δ at α = 1 + e^x, rounded up
		a := math.Exp(x)
		terms := [...]float64{a * (1 + a) * r, -a * epsilon, a * logRatio(a), -math.Log1p(a)}
		return addUpwards(terms[:])
	}
	// For ε > ρ the best α is near (ε+ρ)/(2ρ).
	start := math.Log(max((epsilon-r)/(2*r), 1e-3))
	return min(math.Exp(at(findLowest(at, start-8, start+3)))*(1+8*unit), 1)
}

// RhoEpsilon is an ε such that ρ-zCDP implies (ε, δ)-DP, by the same
// conversion. It is +Inf for a δ that is not in (0, 1).
func RhoEpsilon(rho dp.Rho, delta float64) float64 {
	if !(rho >= 0 && delta > 0 && delta < 1) {
		return math.Inf(1)
	}
	if rho == 0 {
		return 0
	}
	r := rho.Float() * (1 + 2*unit)
	at := func(x float64) float64 {
		a := math.Exp(x)
		terms := [...]float64{(1 + a) * r, -math.Log(delta) / a, logRatio(a), -math.Log1p(a) / a}
		return addUpwards(terms[:])
	}
	start := math.Log(math.Sqrt(-math.Log(delta) / r))
	return max(at(findLowest(at, start-8, start+3)), 0)
}

// RhoFor is the largest ρ that RhoDelta allows for a target: a budget in zCDP.
func RhoFor(epsilon, delta float64) (dp.Rho, error) {
	if err := checkTarget("rho", epsilon, delta); err != nil {
		return 0, err
	}
	return findLargest("rho", dp.MaxRho, func(r dp.Rho) (bool, error) { return RhoDelta(r, epsilon) <= delta, nil })
}

// logRatio is log(1−1/α) for α = 1 + a.
func logRatio(a float64) float64 { return -math.Log1p(1 / a) }

// addUpwards adds a few terms, each right to a few units, and the error bound.
func addUpwards(terms []float64) (sum float64) {
	size := 0.0
	for _, t := range terms {
		sum, size = sum+t, size+math.Abs(t)
	}
	return sum + 16*unit*size
}

// findLowest is about where f is lowest between two points; any point will do for
// a bound.
func findLowest(f func(float64) float64, lo, hi float64) float64 {
	const golden = 0.6180339887498949
	for range 60 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return (lo + hi) / 2
}

func checkRho(op string, rho dp.Rho) error {
	if rho < 1 || rho > dp.MaxRho {
		return &dp.ParamError{Op: op, Param: "rho", Want: "must be at least 1e-12 and at most " + dp.MaxRho.String(),
			Got: rho}
	}
	return nil
}
