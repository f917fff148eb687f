// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// Bill composes the releases of a bill. A release with a ρ costs what Gaussian
// noise costs; one by the exponential mechanism what a bounded range costs; any
// other what the worst mechanism of its ε costs (Pure): a bill does not say how
// many numbers a Laplace release holds. Releases that cost nothing are left out.
func Bill(bill []dp.Event) (*Composition, error) {
	type price struct {
		exponential bool
		eps         dp.Epsilon
		rho         dp.Rho
	}
	var uses []Use
	place := map[price]int{}
	for i, e := range bill {
		p := price{e.Mechanism == "exponential", e.Epsilon, e.Rho}
		if p.rho == 0 && p.eps == 0 {
			continue
		}
		if at, ok := place[p]; ok {
			uses[at].Times++
			continue
		}
		pair, err := Pure(e.Epsilon)
		switch {
		case p.rho != 0:
			pair, err = Gaussian(p.rho)
		case p.exponential:
			pair, err = Exponential(p.eps)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the bill: %w", i, err)
		}
		place[p] = len(uses)
		uses = append(uses, Use{pair, 1})
	}
	return Compose(uses...)
}
