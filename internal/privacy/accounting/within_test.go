// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func gaussianEvent(rho dp.Rho) dp.Event {
	return dp.Event{Release: "sum", Mechanism: "gaussian", Epsilon: dp.Infinite, Rho: rho}
}

func pureEvent(eps dp.Epsilon) dp.Event {
	return dp.Event{Release: "choice", Mechanism: "permute-and-flip", Epsilon: eps}
}

// A pure bill is within a pure price to the unit; a Gaussian one within none.
func TestWithinPure(t *testing.T) {
	bill := []dp.Event{pureEvent(3), pureEvent(4)}
	for eps, want := range map[dp.Epsilon]bool{6: false, 7: true, 8: true} {
		if got, err := Within(bill, dp.Price{Epsilon: eps}); got != want || err != nil {
			t.Errorf("ε = %d: %v, %v", eps, got, err)
		}
	}
	if got, err := Within([]dp.Event{gaussianEvent(1)}, dp.Price{Epsilon: dp.MaxEpsilon}); got || err != nil {
		t.Errorf("a Gaussian release is within a pure price: %v, %v", got, err)
	}
}

// Of Gaussian releases the largest total is within its target, and the next
// larger, by a thousandth, is not: closed form, by independent arithmetic.
func TestWithinGaussian(t *testing.T) {
	price := dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000} // (1, 1e-6)
	for _, k := range []int{1, 7} {
		split := func(rho dp.Rho) (bill []dp.Event) {
			for range k {
				bill = append(bill, gaussianEvent(rho))
			}
			return bill
		}
		part, err := Afford(price, dp.MaxRho, split)
		if err != nil {
			t.Fatal(err)
		}
		curve := func(rho float64) float64 {
			mu := math.Sqrt(2 * rho)
			return math.Erfc((1/mu-mu/2)/math.Sqrt2)/2 - math.E*math.Erfc((1/mu+mu/2)/math.Sqrt2)/2
		}
		at := float64(k) * part.Float()
		if !(curve(at) <= 1e-6 && curve(at*1.001) > 1e-6) {
			t.Errorf("%d releases of ρ = %s: δ(1) is %g, and %g a thousandth further", k, part, curve(at), curve(at*1.001))
		}
		if ok, err := Within(split(part+part/1000), price); ok || err != nil {
			t.Errorf("%d releases of a thousandth more are within: %v", k, err)
		}
	}
}

// A bill of Gaussian and pure releases is accounted jointly: cheaper than its
// parts one by one, dearer than either alone. The reference is the mixture over
// the pure release's two losses of the Gaussian curve, in closed form.
func TestWithinMixture(t *testing.T) {
	const half = dp.Nano / 2
	price := dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000}
	part, err := Afford(price, dp.MaxRho, func(rho dp.Rho) []dp.Event {
		return []dp.Event{pureEvent(half), gaussianEvent(rho)}
	})
	if err != nil {
		t.Fatal(err)
	}
	curve := func(rho, eps float64) float64 {
		mu := math.Sqrt(2 * rho)
		return math.Erfc((eps/mu-mu/2)/math.Sqrt2)/2 - math.Exp(eps)*math.Erfc((eps/mu+mu/2)/math.Sqrt2)/2
	}
	both := func(rho float64) float64 { // δ(1) of randomised response with ε = 1/2, then Gaussian
		up := 1 / (1 + math.Exp(-0.5))
		return up*curve(rho, 0.5) + (1-up)*curve(rho, 1.5)
	}
	if at := part.Float(); !(both(at) <= 1e-6 && both(at*1.01) > 1e-6) {
		t.Errorf("ρ = %s beside ε = 0.5: δ(1) is %g, and %g a hundredth further", part, both(at), both(at*1.01))
	}
	apart, err := Afford(dp.Price{Epsilon: half, Delta: price.Delta}, dp.MaxRho,
		func(rho dp.Rho) []dp.Event { return []dp.Event{gaussianEvent(rho)} })
	if err != nil || part <= apart {
		t.Errorf("jointly ρ = %s, with the ε set apart %s (%v)", part, apart, err)
	}
	alone, err := Afford(price, dp.MaxRho, func(rho dp.Rho) []dp.Event { return []dp.Event{gaussianEvent(rho)} })
	if err != nil || part >= alone {
		t.Errorf("beside a pure release ρ = %s, alone %s (%v)", part, alone, err)
	}
}

// Many pure releases are worth more under a δ than their ε add up to.
func TestWithinManyPure(t *testing.T) {
	bill := make([]dp.Event, 400)
	for i := range bill {
		bill[i] = pureEvent(dp.Nano / 100)
	}
	sum, small := dp.Price{Epsilon: 4 * dp.Nano}, dp.Price{Epsilon: 12 * dp.Nano / 10, Delta: 1_000_000_000}
	for price, want := range map[dp.Price]bool{sum: true, small: true, {Epsilon: small.Epsilon}: false,
		{Epsilon: dp.Nano / 2, Delta: small.Delta}: false} {
		if got, err := Within(bill, price); got != want || err != nil {
			t.Errorf("%s: %v, %v", price, got, err)
		}
	}
}

func TestWithinRefuses(t *testing.T) {
	good := dp.Price{Epsilon: dp.Nano, Delta: 1}
	for name, c := range map[string]struct {
		price dp.Price
		bill  []dp.Event
	}{
		"no epsilon":                  {dp.Price{Delta: 1}, nil},
		"negative epsilon":            {dp.Price{Epsilon: -1}, nil},
		"huge epsilon":                {dp.Price{Epsilon: dp.MaxEpsilon + 1}, nil},
		"negative delta":              {dp.Price{Epsilon: 1, Delta: -1}, nil},
		"delta of one":                {dp.Price{Epsilon: 1, Delta: dp.Femto}, nil},
		"negative line":               {good, []dp.Event{pureEvent(-1)}},
		"unpriced line":               {good, []dp.Event{{Mechanism: "gaussian", Epsilon: dp.Infinite}}},
		"negative rho":                {good, []dp.Event{gaussianEvent(-1)}},
		"huge rho":                    {good, []dp.Event{gaussianEvent(dp.MaxRho + 1)}},
		"huge line":                   {good, []dp.Event{pureEvent(dp.MaxEpsilon + 1)}},
		"rho of an epsilon, negative": {good, []dp.Event{{Mechanism: "laplace", Epsilon: 1, Rho: -1}}},
		"negative delta of a line":    {good, []dp.Event{{Epsilon: 1, Delta: -1}}},
		"a line with a delta of one":  {good, []dp.Event{{Epsilon: 1, Delta: dp.MaxDelta + 1}}},
		"a line with a delta and rho": {good, []dp.Event{{Epsilon: dp.Infinite, Rho: 1, Delta: 1}}},
	} {
		var refused *dp.ParamError
		if ok, err := Within(c.bill, c.price); ok || !errors.As(err, &refused) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	many := make([]dp.Event, 1<<16)
	for i := range many {
		many[i] = gaussianEvent(dp.MaxRho)
	}
	if ok, err := Within(many, good); ok || err != nil {
		t.Errorf("a sum beyond all bounds: %v, %v", ok, err)
	}
}

// An ε beyond the range of e^ε is never joined with others, and one at the end of it is. Lines with a δ
// add up and are never joined, and lines that cost nothing add nothing.
func TestWithinBoundsOfLines(t *testing.T) {
	beside := func(e dp.Epsilon) []dp.Event { return []dp.Event{pureEvent(e), gaussianEvent(1_000_000)} }
	for _, c := range []struct {
		what  string
		bill  []dp.Event
		price dp.Price
		want  bool
	}{
		{"the largest that is joined", beside(maxPairEpsilon), dp.Price{Epsilon: maxPairEpsilon + dp.Nano, Delta: 1_000_000_000}, true},
		{"beyond it", beside(maxPairEpsilon + 1), dp.Price{Epsilon: maxPairEpsilon + dp.Nano, Delta: 1_000_000_000}, false},
		{"deltas add up", slices.Repeat([]dp.Event{{Epsilon: 1, Delta: 5}}, 3), dp.Price{Epsilon: 3, Delta: 15}, true},
		{"deltas add up to more", slices.Repeat([]dp.Event{{Epsilon: 1, Delta: 5}}, 3), dp.Price{Epsilon: 3, Delta: 14}, false},
		{"a delta beside a rho", []dp.Event{{Epsilon: 1, Delta: 5}, gaussianEvent(1)}, dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000}, false},
		{"a line for nothing beside a rho", []dp.Event{{Mechanism: "none"}, gaussianEvent(1_000_000)},
			dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000}, true},
	} {
		if got, err := Within(c.bill, c.price); got != c.want || err != nil {
			t.Errorf("%s: %t, %v", c.what, got, err)
		}
	}
}

// The search for a price ends, at the largest that is allowed, also if that is a few units.
func TestSmallPricesAreFound(t *testing.T) {
	for most := dp.Rho(1); most <= 60; most++ {
		for want := dp.Rho(1); want <= most; want++ {
			calls := 0
			got, err := findLargest("test", most, func(part dp.Rho) (bool, error) {
				if calls++; calls > 100 {
					return false, errors.New("100 prices were tried")
				}
				return part <= want, nil
			})
			if got != want || err != nil {
				t.Errorf("%d of %d is found, want %d (%v)", got, most, want, err)
			}
		}
	}
}

// The curve of the Gaussian release that covers a pure one is nowhere below that one's, touches it at its corner, and a
// choice beside Gaussian releases is within a price by it, or by the distributions of the losses, which are tighter.
func TestPureReleasesAsGaussian(t *testing.T) {
	for _, eps := range []dp.Epsilon{1000, dp.Nano / 1000, dp.Nano / 10, dp.Nano, 5 * dp.Nano, 10 * dp.Nano} {
		rho, e := PureRho(eps), eps.Float()
		mu := math.Sqrt(2 * rho.Float())
		normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		corner := 1 / (1 + math.Exp(e)) // where both kinds of error are as likely
		if of := normal(-mu / 2); of > corner || eps > dp.Nano/1000 && of < corner*(1-1e-6) {
			t.Errorf("ε = %s: errors of %g as ρ = %s, and of %g", eps, of, rho, corner)
		}
		for k := range 40 { // δ at a smaller ε: (e^ε − e^x)/(1 + e^ε)
			x := e * float64(k) / 40
			if of, true := GaussianDelta(rho, x), (math.Exp(e)-math.Exp(x))/(1+math.Exp(e)); of < true {
				t.Errorf("ε = %s: δ(%g) is %g as ρ = %s, and %g", eps, x, of, rho, true)
			}
		}
	}
	if PureRho(10*dp.Nano+1) <= dp.MaxRho || PureRho(0) != 0 {
		t.Error("an ε above 10 counts as a ρ, or none as more than none")
	}
	price := dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000}
	all, err := Afford(price, dp.MaxRho, func(rho dp.Rho) []dp.Event { return []dp.Event{gaussianEvent(rho)} })
	if err != nil {
		t.Fatal(err)
	}
	eps := dp.Epsilon(30_000_000)
	fits := []dp.Event{pureEvent(eps), gaussianEvent(all - PureRho(eps) - 1)}
	if rho, releases, ok := AsGaussian(fits, price); !ok || rho != all-1 || releases != 1 {
		t.Errorf("a choice and a release are %d of ρ %s, within: %t", releases, rho, ok)
	}
	above := []dp.Event{pureEvent(eps), gaussianEvent(all - PureRho(eps) + all/1000)}
	if _, _, ok := AsGaussian(above, price); ok {
		t.Error("more than one release costs is within")
	}
	if ok, err := Within(above, price); !ok || err != nil {
		t.Errorf("what is within by its distributions is not: %v", err)
	}
	if _, _, ok := AsGaussian(fits[:1], price); ok {
		t.Error("pure releases alone are Gaussian")
	}
}
