// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Bill composes the releases of a bill. A release by the mechanism "gaussian" costs as much as
// Gaussian noise of its ρ, one by "exponential" as much as a bounded range, and any other as much as
// the worst mechanism of its ε (Pure). The reasons are that a bill does not state how many numbers a
// Laplace release holds, and that a ρ alone does not imply Gaussian noise. Releases that cost nothing
// are omitted.
func Bill(bill []dp.Event) (*Composition, error) {
	type price struct {
		mechanism string // only where it matters
		eps       dp.Epsilon
		rho       dp.Rho
	}
	var uses []Use
	place := map[price]int{}
	for i, e := range bill {
		if e.Delta > 0 {
			return nil, fmt.Errorf("line %d of the bill has a delta of its own, so it is not accounted with others", i)
		}
		if e.Epsilon == 0 && e.Rho == 0 {
			continue
		}
		p := price{eps: e.Epsilon}
		switch e.Mechanism {
		case "gaussian":
			p = price{mechanism: e.Mechanism, rho: e.Rho}
		case "exponential":
			p.mechanism = e.Mechanism
		}
		if at, ok := place[p]; ok {
			uses[at].Times++
			continue
		}
		var pair Pair
		var err error
		switch p.mechanism {
		case "gaussian":
			pair, err = Gaussian(p.rho)
		case "exponential":
			pair, err = Exponential(p.eps)
		default:
			pair, err = Pure(p.eps)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the bill: %w", i, err)
		}
		place[p] = len(uses)
		uses = append(uses, Use{pair, 1})
	}
	return Compose(uses...)
}
