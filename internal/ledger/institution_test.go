// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// ofInstitution is a request for a job that protects the institution.
func ofInstitution(id string) Request {
	req := request(id)
	req.Institution, req.Terms = true, Terms{}
	return req
}

// bounding makes a ledger with one data set, d, whose institution has a total.
func bounding(t testing.TB, p place, also ...string) *Ledger {
	t.Helper()
	l := create(t, p)
	must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: 100, Delta: 50,
		Institution: &Institution{Price: dp.Price{Epsilon: 60, Delta: 20}, Also: also}}))
	return l
}

// By hand: what protects the institution is charged to both totals, and what protects rows alone to
// theirs; after that the institution is not protected, and its total grants nothing but what says so.
func TestInstitutionsAreChargedBeside(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := bounding(t, fresh(t))
		if got := formatOf(t, l); got != formatBounded {
			t.Errorf("a ledger with an institution's total has format %d", got)
		}
		one := mustJob(t, l, ofInstitution("one"))
		must(t, charge(t.Context(), one, 50))
		if b := balanceOf(t, l); b.Spent != 50 || b.OfInstitution.Spent.Epsilon != 50 || b.OfInstitution.Left.Epsilon != 10 ||
			b.OfInstitution.Exposed {
			t.Fatalf("balance %+v of rows, %+v of the institution", b, b.OfInstitution)
		}
		over := (*Exceeded)(nil)
		if err := charge(t.Context(), mustJob(t, l, ofInstitution("two")), 11); !errors.As(err, &over) || !over.Institution ||
			over.Spent != 50 || over.Limit != 60 || !strings.Contains(err.Error(), "institution: spent") {
			t.Errorf("beyond the institution's total: %v", err)
		}
		asked, b := bill(40)
		rows := mustJob(t, l, request("rows"))
		must(t, rows.reservePrice(t.Context(), asked, b))
		must(t, charge(t.Context(), mustJob(t, l, ofInstitution("three")), 5)) // nothing has begun
		over = nil
		if err := charge(t.Context(), mustJob(t, l, ofInstitution("four")), 6); !errors.As(err, &over) || over.Institution {
			t.Errorf("beyond the total of rows: %v", err)
		}
		must(t, rows.beginReading(t.Context()))
		if b := balanceOf(t, l); b.Spent != 95 || b.OfInstitution.Spent.Epsilon != 55 || !b.OfInstitution.Exposed ||
			b.Statement().Institution.Protected {
			t.Errorf("balance %+v of rows, %+v of the institution", b, b.OfInstitution)
		}
		five := ofInstitution("five")
		if err := charge(t.Context(), mustJob(t, l, five), 1); !errors.As(err, new(*Exposed)) {
			t.Errorf("an institution that is not protected was charged: %v", err)
		}
		if err := mustJob(t, l, five).Afford(t.Context(), dp.Price{Epsilon: 1}, b); err == nil {
			t.Error("it was said to be affordable")
		}
		five.Exposed = true
		must(t, charge(t.Context(), mustJob(t, l, five), 1))
		if b := balanceOf(t, l); b.Spent != 96 || b.OfInstitution.Spent.Epsilon != 56 {
			t.Errorf("balance %+v of rows, %+v of the institution", b, b.OfInstitution)
		}
		must(t, one.Commit(t.Context(), []byte("x"))) // it was charged before
		if j := mustJob(t, l, ofInstitution("one")); string(j.Stored()) != "x" {
			t.Error("a result that was paid for is not given again")
		}
		verify(t, l)
	})
}

// What the claim does not cover is refused.
func TestInstitutionsAreRefusedWhereTheyAreNotProven(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		for name, d := range map[string]Dataset{
			"more than rows":  {Name: "d", Epsilon: 10, Institution: &Institution{Price: dp.Price{Epsilon: 11}}},
			"more delta":      {Name: "d", Epsilon: 10, Institution: &Institution{Price: dp.Price{Epsilon: 1, Delta: 1}}},
			"nothing":         {Name: "d", Epsilon: 10, Institution: &Institution{}},
			"a delta below 0": {Name: "d", Epsilon: 10, Institution: &Institution{Price: dp.Price{Epsilon: 1, Delta: -1}}},
		} {
			if err := l.Declare(t.Context(), d); !errors.As(err, new(*dp.ParamError)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: 10, Parts: towns}))
		must(t, l.Declare(t.Context(), Dataset{Name: "owned", Epsilon: 10, Owner: ownerKey}))
		if err := charge(t.Context(), mustJob(t, l, ofInstitution("a")), 1); !errors.As(err, new(*dp.ParamError)) {
			t.Errorf("without a total: %v", err)
		}
		of := Institution{Price: dp.Price{Epsilon: 5}}
		if err := l.Bound(t.Context(), "owned", of); !errors.As(err, new(*dp.ParamError)) {
			t.Errorf("a data set with an owner: %v", err)
		}
		must(t, l.Bound(t.Context(), "d", of))
		if err := l.Bound(t.Context(), "d", of); !errors.As(err, new(*Exists)) {
			t.Errorf("a second total: %v", err)
		}
		part := ofInstitution("part")
		part.Part, part.PartsBy, part.Definition = "north", towns.By, towns.Definition
		if _, err := l.Job(t.Context(), part); !errors.As(err, new(*dp.ParamError)) {
			t.Errorf("an institution in one part: %v", err)
		}
		must(t, charge(t.Context(), mustJob(t, l, ofInstitution("a")), 1))
		if _, err := l.Job(t.Context(), request("a")); !errors.As(err, new(*Conflict)) {
			t.Errorf("a job at two units: %v", err)
		}
		must(t, charge(t.Context(), mustJob(t, l, request("rows")), 1)) // its terms are the first
		verify(t, l)
	})
}

// The institution's rows may be in several data sets: those it names, and the other side of its table.
func TestOtherRowsOfTheInstitutionExposeIt(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := bounding(t, fresh(t), "judge")
		for _, name := range []string{"judge", "old", "young", "other"} {
			must(t, l.Declare(t.Context(), Dataset{Name: name, Epsilon: 10}))
		}
		must(t, l.Bound(t.Context(), "old", Institution{Price: dp.Price{Epsilon: 5}}))
		dealt(t, l, ofPersons)
		exposed := func(name string) bool {
			b, err := l.Balances(t.Context(), name)
			must(t, err)
			return b[0].OfInstitution.Exposed
		}
		begin := func(name, person string) {
			req := request("of-" + name)
			req.Dataset, req.Terms.Person = name, person
			must(t, charge(t.Context(), mustJob(t, l, req), 1))
		}
		begin("other", "")
		if exposed("d") || exposed("old") {
			t.Error("a data set of others exposes the institution")
		}
		begin("judge", "")
		begin("young", "pid")
		if !exposed("d") || !exposed("old") {
			t.Error("other rows of the institution do not expose it")
		}
		verify(t, l)
	})
}

// Entries that no rule allows are damage, if they are chained as they should be.
func TestForgedInstitutionsAreRefused(t *testing.T) {
	price := dp.Price{Epsilon: 1}
	for name, forged := range map[string][]Entry{
		"a total above that of rows": {{Kind: Bounded, Dataset: "e", Epsilon: 11}},
		"a second total":             {{Kind: Bounded, Dataset: "d", Epsilon: 60}},
		"a job without a total":      {{Kind: Reserved, Dataset: "e", Job: "j", Epsilon: price.Epsilon, Detail: encodeDetail(reserved{Institution: true})}},
		"a job beyond the total":     {{Kind: Reserved, Dataset: "d", Job: "j", Epsilon: 61, Detail: encodeDetail(reserved{Institution: true})}},
		"a job of an exposed institution": {{Kind: Reserved, Dataset: "d", Job: "j", Epsilon: 1, Detail: encodeDetail(reserved{})},
			{Kind: Began, Dataset: "d", Job: "j", Epsilon: 1, Detail: encodeDetail(began{})},
			{Kind: Reserved, Dataset: "d", Job: "k", Epsilon: 1, Detail: encodeDetail(reserved{Institution: true})}},
	} {
		l, _ := inHeap()
		must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: 100, Institution: &Institution{Price: dp.Price{Epsilon: 60}}}))
		must(t, l.Declare(t.Context(), Dataset{Name: "e", Epsilon: 10}))
		err := l.runStep(t.Context(), "forge", func(b *books) error {
			for _, e := range forged {
				if e.Detail == nil {
					e.Detail = json.RawMessage("{}")
				}
				if err := l.addEntry(b, e); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.As(err, new(*Damaged)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
