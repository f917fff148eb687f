// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Within reports whether a bill costs at most price: for a pure price, whether its Total is at most
// Epsilon; otherwise whether the releases, accounted jointly, are (Epsilon, Delta)-DP. If all are
// Gaussian, it uses the closed form for the sum of their ρ, otherwise the privacy-loss distribution of
// Bill.
//
// Claim G-ACC-6. If it reports true, releases that cost what the bill states are (Epsilon, Delta)-DP
// together, adaptively chosen or not.
func Within(bill []dp.Event, price dp.Price) (bool, error) {
	if price.Epsilon < 1 || price.Epsilon > dp.MaxEpsilon || price.Delta < 0 || price.Delta > dp.MaxDelta {
		return false, dp.Refuse("accounting", "price", fmt.Sprintf("must have 0 < epsilon <= %s and 0 <= delta < 1",
			dp.MaxEpsilon), price)
	}
	if err := checkBill(bill); err != nil {
		return false, err
	}
	if sum, ok := dp.Sum(bill); ok && sum.Epsilon <= price.Epsilon && sum.Delta <= price.Delta { // 6.2
		return true, nil
	}
	if price.Delta == 0 || slices.ContainsFunc(bill, func(e dp.Event) bool { return e.Delta > 0 }) {
		return false, nil
	}
	epsilon := math.Nextafter(price.Epsilon.Float(), 0) // 6.1: never above the price, as Delta.Float
	rho, releases, pure := sumGaussians(bill)
	if enough := releases > 0 && withinGaussian(rho, releases, epsilon, price.Delta); enough || releases > 0 && !pure {
		return enough, nil
	}
	if slices.ContainsFunc(bill, func(e dp.Event) bool { return e.Rho == 0 && e.Epsilon > maxPairEpsilon }) {
		return false, nil
	}
	c, err := Bill(bill)
	if err != nil {
		return false, err
	}
	return c.Delta(epsilon) <= price.Delta.Float(), nil
}

// Afford returns the largest part for which the resulting bill is Within price, in nano-units of ε or
// pico-units of ρ and at most most. The cost of bill must increase with the part. Learners use it to
// turn a target (ε, δ) into the scales of their noise.
//
// Claim G-ACC-5. The bill at the part returned is Within price.
func Afford[N dp.Epsilon | dp.Rho](price dp.Price, most N, bill func(part N) []dp.Event) (N, error) {
	return findLargest("afford", most, func(part N) (bool, error) { return Within(bill(part), price) })
}

// checkBill refuses lines that no mechanism writes: a price that is missing,
// negative or beyond what a mechanism accepts.
func checkBill(bill []dp.Event) error {
	for i, e := range bill {
		pure := e.Epsilon >= 0 && e.Epsilon <= dp.MaxEpsilon
		if gauss := e.Epsilon == dp.Infinite && e.Rho > 0; !(pure || gauss) || e.Rho < 0 || e.Rho > dp.MaxRho ||
			e.Delta < 0 || e.Delta > dp.MaxDelta || e.Delta > 0 && e.Rho > 0 {
			return dp.Refuse("accounting", "bill",
				fmt.Sprintf("must price each measurement in epsilon up to %s or in rho up to %s (line %d)", dp.MaxEpsilon,
					dp.MaxRho, i+1), fmt.Sprintf("epsilon_nano %d, rho_pico %d", int64(e.Epsilon), int64(e.Rho)))
		}
	}
	return nil
}

// AsGaussian returns the ρ of one Gaussian release that covers a bill of Gaussian and pure releases (PureRho), and how many
// of them are Gaussian. ok is false if there are none, or if that release is not within price.
func AsGaussian(bill []dp.Event, price dp.Price) (rho dp.Rho, releases int, ok bool) {
	rho, releases, _ = sumGaussians(bill)
	return rho, releases, releases > 0 && withinGaussian(rho, releases, math.Nextafter(price.Epsilon.Float(), 0), price.Delta)
}

// withinGaussian allows for the rounding of as many releases, and one more.
func withinGaussian(rho dp.Rho, releases int, epsilon float64, delta dp.Delta) bool {
	return rho <= dp.MaxRho && gaussianDelta(rho, epsilon, releases+1) <= delta.Float()
}

// PureRho is the ρ of a Gaussian release of which any ε-DP release is a function of the outcome and of chance (6.3). It is
// rounded up, and beyond every price for an ε above mostPure.
func PureRho(eps dp.Epsilon) dp.Rho {
	if eps > mostPure {
		return dp.MaxRho + 1
	}
	x := math.Erfinv(math.Tanh(eps.Float() / 2)) // accurate to some 1e-12
	return dp.Rho(math.Ceil(4 * x * x * (1 + 1e-9) * dp.Pico))
}

const mostPure = 10 * dp.Nano

// sumGaussians adds up the ρ of a bill of Gaussian releases, and of pure ones if there are any, up to just above the
// largest possible ρ. releases is the number of Gaussian ones; 0 if another mechanism is on the bill.
func sumGaussians(bill []dp.Event) (rho dp.Rho, releases int, pure bool) {
	for _, e := range bill {
		switch {
		case e.Epsilon == 0 && e.Rho == 0:
		case e.Mechanism == "gaussian" && e.Rho > 0:
			rho = min(rho+e.Rho, dp.MaxRho+1)
			releases++
		case e.Rho == 0 && e.Delta == 0:
			rho, pure = min(rho+PureRho(e.Epsilon), dp.MaxRho+1), true
		default:
			return 0, 0, false
		}
	}
	return rho, releases, pure
}
