// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
)

// A purse refuses each share that is no price, even of a mechanism that would take it, and what is
// more than is left by one unit; it gives what is left.
func TestPursesRefuseByThemselves(t *testing.T) {
	pure := func() purse { return &sumPurse{"test", dp.Price{Epsilon: 10, Delta: 5}} }
	gauss := func(count int) func() purse {
		return func() purse { return &gaussianPurse{whole{"test"}, 10, count, 10_000} }
	}
	for _, c := range []struct {
		what string
		of   func() purse
		s    Share
		ok   bool
	}{
		{"all of an epsilon", pure, Share{Epsilon: 10}, true},
		{"one unit", pure, Share{Epsilon: 1}, true},
		{"more than is left", pure, Share{Epsilon: 11}, false},
		{"nothing", pure, Share{}, false},
		{"a negative epsilon", pure, Share{Epsilon: -1}, false},
		{"a rho of an epsilon", pure, Share{Rho: 1}, false},
		{"both", pure, Share{Epsilon: 1, Rho: 1}, false},
		{"all of a rho", gauss(2), Share{Rho: 10}, true},
		{"one unit of rho", gauss(1), Share{Rho: 1}, true},
		{"one measurement too many", gauss(0), Share{Rho: 1}, false},
		{"more rho than is left", gauss(2), Share{Rho: 11}, false},
		{"no rho", gauss(2), Share{}, false},
		{"a negative rho", gauss(2), Share{Rho: -1}, false},
		{"an epsilon beside a rho", gauss(2), Share{Rho: 1, Epsilon: 1}, false},
		{"an epsilon beside no measurement", gauss(0), Share{Epsilon: 1}, true}, // it is not counted
		{"more epsilon than is left", gauss(2), Share{Epsilon: 10_001}, false},
	} {
		if err := c.of().take("x", "laplace", c.s); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	for price, ok := range map[dp.Price]bool{{Epsilon: 10, Delta: 5}: true, {Epsilon: 1}: true, {Epsilon: 11}: false, {Epsilon: 0}: false,
		{Epsilon: -1}: false, {Epsilon: 1, Delta: 6}: false, {Epsilon: 1, Delta: -1}: false} {
		if err := pure().part("x", price); (err == nil) != ok {
			t.Errorf("a training inside for %d and %d: %v", price.Epsilon, price.Delta, err)
		}
		if gauss(9)().part("x", price) == nil {
			t.Errorf("a training inside for %d and %d is paid by a rho", price.Epsilon, price.Delta)
		}
	}
}

// A purse of (ε, δ) is spent as ρ, in which an ε counts as the ρ that covers it, or by pure shares alone, which add up. What
// leaves one of the two for good does not come back.
func TestPurseOfRhoOrOfEpsilon(t *testing.T) {
	const eps = 3_000_000 // counts as 7,068,582 of ρ
	if rho := accounting.PureRho(eps); rho != 7_068_582 {
		t.Fatalf("ε = .003 counts as %s", rho)
	}
	for _, c := range []struct {
		what   string
		shares []Share
		ok     bool // of the last one; those before it are taken
	}{
		{"an epsilon and the rest as rho", []Share{{Epsilon: eps}, {Rho: 2_931_418}}, true},
		{"an epsilon and one unit too many", []Share{{Epsilon: eps}, {Rho: 2_931_419}}, false},
		{"rho and an epsilon within it", []Share{{Rho: 2_931_418}, {Epsilon: eps}}, true},
		{"rho, and an epsilon that only its own sum allows", []Share{{Rho: 1}, {Epsilon: 4_000_000}}, false},
		{"epsilons up to the price", []Share{{Epsilon: 4_000_000}, {Epsilon: 6_000_000}}, true},
		{"epsilons beyond it", []Share{{Epsilon: 4_000_000}, {Epsilon: 6_000_001}}, false},
		{"rho after an epsilon that does not count as one", []Share{{Epsilon: 4_000_000}, {Rho: 1}}, false},
	} {
		p := &gaussianPurse{whole{"test"}, 10_000_000, 2, 10_000_000}
		for i, s := range c.shares {
			if err, last := p.take("x", "", s), i == len(c.shares)-1; (err == nil) != (c.ok || !last) {
				t.Errorf("%s, share %d: %v", c.what, i+1, err)
			}
		}
	}
}
