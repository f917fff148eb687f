// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
)

// Release is one line of a bill before its price is known.
type Release struct {
	Label  string
	Share  float64      // of the price, relative to the other releases
	Price  *guard.Share // receives the price
	Choice bool         // a selection rather than a measurement: its price is pure
	Pure   bool         // Laplace noise, whatever the others have
}

// WriteBill divides a price among releases, and returns what each is charged. Pure prices add up to ε. With Gaussian
// noise all releases are accounted jointly, and a selection counts as a Gaussian release, which costs at least as much.
func WriteBill(op string, list []Release, price dp.Price, gaussian bool) ([]dp.Event, error) {
	if !gaussian {
		return billReleases(op, list, price.Epsilon, func(eps dp.Epsilon) guard.Share { return guard.Share{Epsilon: eps} })
	}
	n := dp.Rho(len(list))
	all, err := accounting.Afford(price, dp.MaxRho-n, func(all dp.Rho) []dp.Event {
		return slices.Repeat([]dp.Event{guard.Share{Rho: all/n + 1}.Line("release")}, len(list))
	})
	if err != nil {
		return nil, err
	}
	return billReleases(op, list, all, func(rho dp.Rho) guard.Share { return guard.Share{Rho: rho} })
}

func billReleases[N dp.Epsilon | dp.Rho](op string, list []Release, all N, toPrice func(N) guard.Share) (bill []dp.Event, err error) {
	if err := ShareOut(op, all, list, toPrice); err != nil {
		return nil, err
	}
	for _, r := range list {
		line := r.Price.Line(r.Label)
		if r.Choice {
			line = r.Price.ChoiceLine(r.Label)
		}
		bill = append(bill, line)
	}
	return bill, nil
}

// ShareOut gives every release its part of all.
func ShareOut[N dp.Epsilon | dp.Rho](op string, all N, list []Release, toPrice func(N) guard.Share) error {
	parts, err := dividePrice(op, all, list)
	if err != nil {
		return err
	}
	for i, r := range list {
		if *r.Price = toPrice(parts[i]); r.Choice || r.Pure {
			*r.Price = r.Price.Pure()
		}
	}
	return nil
}

// dividePrice divides a price in proportion to the shares of releases, in whole units that add up to
// it. The remainder of rounding goes to the last.
func dividePrice[N dp.Epsilon | dp.Rho](op string, all N, list []Release) ([]N, error) {
	sum := 0.0
	for _, r := range list {
		sum += r.Share
	}
	out := make([]N, len(list))
	left := all
	for i, r := range list {
		out[i] = N(float64(all) * (r.Share / sum))
		if i == len(list)-1 {
			out[i] = left
		}
		if out[i] < 1 || out[i] > left {
			want := fmt.Sprintf("must give each of %d releases at least the smallest unit of price", len(list))
			return nil, &dp.ParamError{Op: op, Param: "epsilon", Want: want, Got: all}
		}
		left -= out[i]
	}
	return out, nil
}
