// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// inHeap is a ledger in memory whose state can be taken up again.
func inHeap() (*Ledger, *heap) {
	store := &heap{stored: map[string][]byte{}}
	return &Ledger{store: store, now: time.Now, files: disk{}, pass: func(string) error { return nil }}, store
}

const january = 2027 * 12

// trainMonth trains a model on the last cohorts of a month, or on all where last is 0, and reports
// whether it was granted.
func trainMonth(t *testing.T, l *Ledger, id string, at, last int, price dp.Price) bool {
	t.Helper()
	var names []string
	for i := at - last + 1; i <= at; i++ {
		names = append(names, indexMonth(i))
	}
	req := request(id)
	if last > 0 {
		req = onCohorts(id, names...)
	}
	err := mustJob(t, l, req).Charge(context.Background(), price, priced(price))
	if exceeded := (*Exceeded)(nil); err != nil && !errors.As(err, &exceeded) {
		t.Fatal(err)
	}
	return err == nil
}

// priced is a bill of that price.
func priced(p dp.Price) []dp.Event {
	return []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: p.Epsilon}}
}

// The forecast is what happens: twelve months of trainings on a real ledger, for random totals, pasts
// and paces, are refused when it says so and not before.
func TestForecastIsWhatTwelveMonthsBring(t *testing.T) {
	const months = 12
	r := rand.New(rand.NewPCG(35, 1))
	seen := map[string]int{}
	for run := range 400 {
		l, store := inHeap()
		cohorts := run%5 > 0
		d := Dataset{Name: "d", Epsilon: dp.Epsilon(1 + r.IntN(60)), CohortBy: "entry"}
		if !cohorts {
			d.CohortBy = ""
		}
		must(t, l.Declare(context.Background(), d))
		for i := range r.IntN(6) { // the past
			at, last := january-6+r.IntN(8), 1+r.IntN(3)
			if !cohorts || r.IntN(6) == 0 {
				last = 0
			}
			trainMonth(t, l, fmt.Sprint("past", i), at, last, dp.Price{Epsilon: dp.Epsilon(1 + r.IntN(15))})
		}
		p := Pace{Price: dp.Price{Epsilon: dp.Epsilon(1 + r.IntN(20))}, Last: 1 + r.IntN(4),
			Also: dp.Price{Epsilon: dp.Epsilon(1 + r.IntN(6))}, From: "2027-01"}
		last := p.Last
		if !cohorts {
			last = 0
		}
		b := balanceOf(t, l)
		o, err := b.Forecast(p)
		must(t, err)

		before, results := store.all, store.stored
		// refused simulates from the state before: the first of the months from `from` on whose model is
		// refused, if one more on all is trained in the first `also` months; "" for none.
		refused := func(from int, price dp.Price, also int) string {
			store.all, store.stored = slices.Clone(before), maps.Clone(results)
			for m := range months {
				if !trainMonth(t, l, fmt.Sprint("m", m), from+m, last, price) ||
					m < also && !trainMonth(t, l, fmt.Sprint("also", m), from+m, 0, p.Also) {
					return indexMonth(from + m)
				}
			}
			return ""
		}
		got := refused(january, p.Price, 0)
		want := ""
		if !o.Sustainable {
			want = "2027-01"
			if o.Until != "" {
				at, err := monthIndex(o.Until)
				must(t, err)
				if want = indexMonth(at + 1); at+1 >= january+months {
					want = ""
				}
			}
		}
		if got != want {
			t.Fatalf("run %d: %+v of %+v: refused %q, forecast %q (%s)", run, p, b, got, want, o.Words)
		}
		most := dp.Price{Epsilon: dp.Epsilon(o.Most)}
		if most.Epsilon > 0 && refused(january, most, 0) != "" {
			t.Fatalf("run %d: %s is not sustainable", run, most.Epsilon)
		}
		if most.Epsilon++; cohorts && refused(january, most, 0) == "" {
			t.Fatalf("run %d: %s is sustainable, too", run, most.Epsilon)
		}
		if o.SustainableFrom != "" {
			at, err := monthIndex(o.SustainableFrom)
			must(t, err)
			if refused(at, p.Price, 0) != "" || refused(at-1, p.Price, 0) == "" {
				t.Fatalf("run %d: %s is not the first month from which it lasts", run, o.SustainableFrom)
			}
			seen["later"]++
		}
		if o.Sustainable {
			n := 0
			if o.RestUntil != "" {
				at, err := monthIndex(o.RestUntil)
				must(t, err)
				n = at - january + 1
			}
			if n <= months && refused(january, p.Price, n) != "" || n < months && refused(january, p.Price, n+1) == "" {
				t.Fatalf("run %d: %+v of %+v: the rest does not last until %q", run, p, b, o.RestUntil)
			}
			seen["sustainable"]++
		} else {
			seen["not"]++
		}
	}
	for _, kind := range []string{"later", "sustainable", "not"} {
		if seen[kind] < 10 {
			t.Errorf("%d of 400 are %s: too few are tried", seen[kind], kind)
		}
	}
	t.Log(seen)
}

// The words of a forecast, by hand.
func TestForecastInWords(t *testing.T) {
	ctx := context.Background()
	half := dp.Price{Epsilon: dp.Nano / 2}
	for _, c := range []struct {
		total, spentOn, spentOnAll dp.Epsilon
		pace                       Pace
		want                       string
	}{
		{2 * dp.Nano, 0, 0, Pace{Price: half, Last: 3, Also: dp.Price{Epsilon: dp.Nano / 30}},
			"one model at ε 0.5 each month on the last three months' people is sustainable; the rest lasts until March 2028"},
		{2 * dp.Nano, 0, 0, Pace{Price: half, Last: 3},
			"one model at ε 0.5 each month on the last three months' people is sustainable; the rest, ε 0.5, is left for " +
				"models on everyone"},
		{2 * dp.Nano, 0, dp.Nano / 2, Pace{Price: half, Last: 3},
			"one model at ε 0.5 each month on the last three months' people is sustainable; nothing is left for models on " +
				"everyone"},
		{2 * dp.Nano, 0, 0, Pace{Price: half, Last: 3, Also: dp.Price{Epsilon: dp.Nano}},
			"one model at ε 0.5 each month on the last three months' people is sustainable; the rest, ε 0.5, does not pay " +
				"for one on everyone at ε 1"},
		{2 * dp.Nano, 0, 0, Pace{Last: 1},
			"one model at ε 2 each month on the last month's people is sustainable; nothing is left for models on everyone"},
		{dp.Nano, 0, 0, Pace{Price: half, Last: 3},
			"one model at ε 0.5 each month on the last three months' people lasts until February 2027; at ε 0.333333333 it " +
				"would be sustainable"},
		{2 * dp.Nano, dp.Nano, 0, Pace{Price: half, Last: 3},
			"one model at ε 0.5 each month on the last three months' people lasts until February 2027; begun in " +
				"February 2027 it would be sustainable"},
		{dp.Nano, dp.Nano, 0, Pace{Last: 3},
			"no model on the last three months' people is sustainable: a cohort that it would read has nothing left"},
	} {
		l, _ := inHeap()
		c.pace.From = "2027-01"
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: c.total, CohortBy: "entry"}))
		if c.spentOn > 0 {
			must(t, charge(ctx, mustJob(t, l, onCohorts("past", "2027-01")), c.spentOn))
		}
		if c.spentOnAll > 0 {
			must(t, charge(ctx, mustJob(t, l, request("all")), c.spentOnAll))
		}
		b := balanceOf(t, l)
		o, err := b.Forecast(c.pace)
		must(t, err)
		if o.Words != c.want {
			t.Errorf("got  %s\nwant %s", o.Words, c.want)
		}
	}
}

// Cohorts that are no months are in the order of their names, numbers by their size.
func TestForecastOfWaves(t *testing.T) {
	l, _ := inHeap()
	ctx := context.Background()
	must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 10, CohortBy: "wave"}))
	for i, wave := range []string{"wave 10", "wave 9", "wave 2"} {
		req := onCohorts(fmt.Sprint("j", i), wave)
		req.PartsBy = "wave"
		must(t, charge(ctx, mustJob(t, l, req), dp.Epsilon(9-4*i)))
	}
	b := balanceOf(t, l)
	o, err := b.Forecast(Pace{Price: dp.Price{Epsilon: 5}, Last: 2, From: "2027-01"})
	must(t, err)
	if o.Sustainable || o.Until != "" || o.SustainableFrom != "2" ||
		o.Words != "one model at ε 0.000000005 with each new cohort on the last two cohorts' people is refused at once; "+
			"begun with cohort 2 from now it would be sustainable" {
		t.Errorf("%+v", o)
	}
	for _, bad := range []Pace{{Last: 0, From: "2027-01"}, {Last: maxLast + 1, From: "2027-01"}} {
		var p *dp.ParamError
		if _, err := b.Forecast(bad); !errors.As(err, &p) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	months := Balance{Dataset: Dataset{CohortBy: "entry"}}
	for _, from := range []string{"", "2027", "2027-1", "2027-13", "0000-01", "x"} {
		var p *dp.ParamError
		if _, err := months.Forecast(Pace{Last: 1, From: from}); !errors.As(err, &p) {
			t.Errorf("%q: %v", from, err)
		}
	}
}
