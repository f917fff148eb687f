// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

// Up to as many prices and repeats as there may be are compared, each at its price, and one more is
// refused.
func TestAsManyComparisonsAsThereMayBe(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, maxEpsilons - 1: true, maxEpsilons: true, maxEpsilons + 1: false} {
		o := options()
		o.Epsilons = nil
		for i := range n {
			o.Epsilons = append(o.Epsilons, dp.Epsilon(1+i)*dp.Nano)
		}
		if err := o.Check(census.Schema()); (err == nil) != want {
			t.Errorf("%d prices: %v", n, err)
		}
		seen := map[dp.Epsilon]int{}
		for _, p := range o.listPoints() {
			seen[p.Epsilon]++
		}
		for _, eps := range o.Epsilons {
			if seen[eps] != 1 {
				t.Errorf("of %d prices %s is tried %d times", n, eps, seen[eps])
			}
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, maxRepeats - 1: true, maxRepeats: true, maxRepeats + 1: false} {
		o := options()
		o.Repeats = n
		if err := o.Check(census.Schema()); (err == nil) != want {
			t.Errorf("%d repeats: %v", n, err)
		}
	}
}
