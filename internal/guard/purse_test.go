// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A purse refuses each share that is no price, even of a mechanism that would take it, and what is
// more than is left by one unit; it gives what is left.
func TestPursesRefuseByThemselves(t *testing.T) {
	pure := func() purse { return &sumPurse{"test", dp.Price{Epsilon: 10, Delta: 5}} }
	gauss := func(count int) func() purse {
		return func() purse { return &gaussianPurse{whole{"test"}, 10, count} }
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
