// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"math"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Every choice is taken up to its bound and refused beyond, and what is taken is billed: each round,
// within the price.
func TestChoicesReachTheirBounds(t *testing.T) {
	s := census.Schema()
	try := func(name string, want bool, set func(*Params)) *Plan {
		t.Helper()
		p := Defaults()
		p.Epsilon = dp.Nano
		set(&p)
		pl, err := p.Plan(s, 100)
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		return pl
	}
	for _, n := range []int{1, 2, 49, 50, 99, 100, 999, 1000, 1001, 4999, 5000, 5001, maxRounds - 1, maxRounds,
		maxRounds + 1} {
		pl := try(strconv.Itoa(n)+" rounds", n <= maxRounds, func(p *Params) { p.Rounds = n })
		if n > maxRounds {
			continue
		}
		bill, few := pl.Terms().Bill, try("one round", true, func(p *Params) { p.Rounds = 1 }).Terms().Bill
		each := len(try("two rounds", true, func(p *Params) { p.Rounds = 2 }).Terms().Bill) - len(few)
		if each < 1 || len(bill) != len(few)+(n-1)*each || dp.Pure(bill).Epsilon > dp.Nano {
			t.Errorf("%d rounds are billed as %d releases, one round as %d, for %s", n, len(bill), len(few),
				dp.Pure(bill).Epsilon)
		}
	}
	for c, want := range map[float64]bool{math.Nextafter(1, 0): false, 1: true, maxC: true,
		math.Nextafter(maxC, math.Inf(1)): false} {
		try("c1", want, func(p *Params) { p.C1, p.C2 = c, 2 })
		try("c2", want, func(p *Params) { p.C1, p.C2 = 2, c })
	}
	for n, want := range map[int]bool{1: false, 2: true, maxCandidates - 1: true, maxCandidates: true,
		maxCandidates + 1: false} {
		try(strconv.Itoa(n)+" candidates", want, func(p *Params) { p.Intercept, p.Candidates = InterceptSelected, n })
	}
}

// So many stumps as there may be are all candidates, in their order, and one more is refused.
func TestAsManyStumpsAsThereMayBe(t *testing.T) {
	for _, n := range []int{3, 255, 256, 257, maxStumps - 1, maxStumps, maxStumps + 1} {
		s := *census.Schema()
		many := schema.Column{Name: "many", Role: schema.Private, Kind: schema.Category}
		for k := range n - 1 { // and one for any other
			many.Levels = append(many.Levels, schema.Level{Value: strconv.Itoa(k)})
		}
		s.Columns = []schema.Column{s.Columns[0], many}
		s.Label.Position = 2
		p := Defaults()
		p.Epsilon, p.Subroutine, p.Intercept = dp.Nano, Stump, InterceptZero
		pl, err := p.Plan(&s, 100)
		if n > maxStumps {
			if err == nil {
				t.Errorf("%d stumps are taken", n)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all, want := allStumps(pl.private, &s, p.Candidates), naiveStumps(&s, p)
		if len(all) != n || len(want) != n {
			t.Fatalf("%d levels have %d stumps, want %d", n, len(all), len(want))
		}
		for k := range all {
			if all[k].Bias != want[k].Bias || all[k].Coef[k] != want[k].Coef[k] {
				t.Fatalf("stump %d of %d is another than the twin's", k, n)
			}
		}
	}
}
