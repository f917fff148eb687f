// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
)

// gaussian is a bill of one Gaussian release of which price buys exactly one.
func gaussian(t testing.TB, price dp.Price) []dp.Event {
	t.Helper()
	of := func(rho dp.Rho) []dp.Event {
		return []dp.Event{{Release: "r", Mechanism: "gaussian", Epsilon: dp.Infinite, Rho: rho}}
	}
	rho, err := accounting.Afford(price, dp.MaxRho, of)
	if err != nil {
		t.Fatal(err)
	}
	return of(rho)
}

// A price is taken for a bill that it covers and for no other: not a cheaper
// one, not a pure one for Gaussian noise.
func TestPriceMustCoverItsBill(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		must(t, l.Declare(context.Background(), Dataset{Name: "d", Epsilon: 3 * dp.Nano, Delta: 3_000_000_000}))
		price := dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000}
		events := gaussian(t, price)
		two := append(events, events...)
		for name, c := range map[string]struct {
			price dp.Price
			bill  []dp.Event
		}{
			"half the epsilon":       {dp.Price{Epsilon: dp.Nano / 2, Delta: price.Delta}, events},
			"half the delta":         {dp.Price{Epsilon: dp.Nano, Delta: price.Delta / 2}, events},
			"no delta":               {dp.Price{Epsilon: dp.Nano}, events},
			"two for one":            {price, two},
			"an infinite pure price": {dp.Pure(events), events},
			"less than a pure total": {dp.Price{Epsilon: 1}, []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: 2}}},
			"more than a pure total": {dp.Price{Epsilon: 3}, []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: 2}}},
			"a refund on the bill": {dp.Price{Epsilon: 1},
				[]dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: 2}, {Release: "r", Mechanism: "laplace", Epsilon: -1}}},
			"another mechanism of a rho": {price,
				[]dp.Event{{Release: "r", Mechanism: "other", Epsilon: dp.Infinite, Rho: events[0].Rho}}},
		} {
			var p *dp.ParamError
			if err := mustJob(t, l, request("bad")).Charge(t.Context(), c.price, c.bill); !errors.As(err, &p) {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, mustJob(t, l, request("good")).Charge(t.Context(), price, events))
		verify(t, l)
	})
}

// Jobs compose by adding up ε and δ, each up to its own total.
func TestDeltasAddUp(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		ctx := context.Background()
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 10 * dp.Nano, Delta: 2_500_000_000}))
		price := dp.Price{Epsilon: dp.Nano, Delta: 1_000_000_000}
		events := gaussian(t, price)
		must(t, mustJob(t, l, request("one")).Charge(t.Context(), price, events))
		must(t, mustJob(t, l, request("two")).Charge(t.Context(), price, events))
		var exceeded *Exceeded
		err := mustJob(t, l, request("three")).Charge(t.Context(), price, events)
		if !errors.As(err, &exceeded) || exceeded.SpentDelta != 2_000_000_000 || exceeded.AskedDelta != price.Delta ||
			exceeded.LimitDelta != 2_500_000_000 {
			t.Errorf("the third: %v", err)
		}
		must(t, charge(t.Context(), mustJob(t, l, request("pure")), dp.Nano)) // ε is left
		b, err := l.Balances(ctx, "d")
		must(t, err)
		if b[0].Spent != 3*dp.Nano || b[0].SpentDelta != 2_000_000_000 || b[0].Left != 7*dp.Nano ||
			b[0].LeftDelta != 500_000_000 {
			t.Errorf("balance %+v", b[0])
		}
		verify(t, l)
	})
}
