// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Verify reads the whole ledger and returns *Damaged if it contradicts itself: a broken chain, a step
// out of order, an exceeded total, a result other than the committed one, or a missing newest entry.
// It returns the head. If anchor is not nil, it must be an earlier head of this ledger. Only an anchor
// can detect a ledger that was restored to an older state as a whole.
func (l *Ledger) Verify(ctx context.Context, anchor *Head) (h Head, err error) {
	err = l.store.view(ctx, func(t tx) error {
		h, err = t.head()
		if err != nil {
			return err
		}
		v := &books{anchor: anchor, totals: map[string]*account{}, sides: map[string]divided{}, rosters: map[string]*roster{},
			jobs: map[string]*past{}, results: map[string]committed{}}
		if err := t.entries("", "", v.readEntry); err != nil {
			return err
		}
		switch {
		case v.seq != h.Seq || v.hash != h.Hash:
			return &Damaged{h.Seq, "the newest entry is not the one the ledger names as newest"}
		case anchor != nil && !v.anchored:
			return &Damaged{anchor.Seq, "the anchor is not in the ledger: it was cut short, put back or rewritten"}
		}
		if err := v.checkPairs(); err != nil {
			return err
		}
		return v.checkResults(t)
	})
	return h, err
}

// books is the state of the ledger, computed again from its entries.
type books struct {
	seq      int64
	hash     string
	anchor   *Head
	anchored bool
	totals   map[string]*account
	sides    map[string]divided // by data set
	rosters  map[string]*roster
	latest   string // the latest time of any entry
	jobs     map[string]*past
	results  map[string]committed // by request
}

type account struct {
	declared
	defined bool // how cells of the cohort column are read
	named   bool // by a job
	limit   dp.Price
	charged map[string]dp.Price // by part or cohort, "" for jobs on all of the data set
}

type past struct {
	kind    Kind
	request string
	part    string
	price   dp.Price
}

// chargePrice adds a price, which may be negative, and reports whether the total allows the new sum.
// It refuses a part that an entry cannot name.
func (a *account) chargePrice(part string, p dp.Price) bool {
	names, err := a.partsOf(part)
	if part == "" {
		names = []string{""}
	}
	for _, name := range names {
		a.charged[name] = addPrices(a.charged[name], p)
	}
	u := a.used()
	return err == nil && u.Epsilon >= 0 && u.Epsilon <= a.limit.Epsilon && u.Delta >= 0 && u.Delta <= a.limit.Delta
}

// used returns the amount charged: on all of the data set, plus the largest sum of any part or cohort.
func (a *account) used() dp.Price {
	var parts dp.Price
	for name, p := range a.charged {
		if name != "" {
			parts = largerPrice(parts, p)
		}
	}
	return addPrices(a.charged[""], parts)
}

func (v *books) readEntry(e Entry) error {
	bad := func(why string) error { return &Damaged{e.Seq, why} }
	switch {
	case e.Seq != v.seq+1:
		return bad(fmt.Sprintf("it follows entry %d", v.seq))
	case e.Prev != v.hash:
		return bad("it does not name the entry before it")
	case e.hashEntry() != e.Hash:
		return bad("it is not what its hash says")
	case (e.Kind == Created) != (e.Seq == 1):
		return bad("the first entry, and no other, creates the ledger")
	}
	v.seq, v.hash, v.latest = e.Seq, e.Hash, max(v.latest, e.At)
	if v.anchor != nil && *v.anchor == (Head{e.Seq, e.Hash}) {
		v.anchored = true
	}
	a, known := v.totals[e.Dataset]
	switch {
	case e.Kind == Created:
		return nil
	case e.Kind == Declared && !known && e.Epsilon > 0:
		var d declared
		if json.Unmarshal(e.Detail, &d) != nil {
			return bad("its detail is not as this program writes it")
		}
		v.totals[e.Dataset] = &account{declared: d, limit: dp.Price{Epsilon: e.Epsilon, Delta: e.Delta},
			charged: map[string]dp.Price{}}
		v.rosters[e.Dataset] = newRoster(d, v.totals[e.Dataset].limit)
		return nil
	case e.Kind == Declared || !known:
		return bad("its data set must be declared once, before its jobs")
	}
	if e.Kind == Defined {
		if a.defined || a.CohortBy == "" || e.Job != "" || e.Epsilon != 0 || e.Delta != 0 {
			return bad("how cohorts are read must be written down once, where there are cohorts")
		}
		a.defined = true
		return nil
	}
	if e.Kind == Divided {
		return v.readDivided(e, a)
	}
	if slices.Contains(ofRoles, e.Kind) {
		if err := v.rosters[e.Dataset].addEntry(&e, v.latest); err != nil {
			return bad("it was not for its key to write: " + err.Error())
		}
	}
	if e.Kind == Appointed || e.Kind == Allotted {
		if e.Job != "" || e.Kind == Appointed && (e.Epsilon != 0 || e.Delta != 0) {
			return bad("a role has no job")
		}
		return nil
	}
	return v.checkJob(e, a, bad)
}

// checkJob checks one step of a job against the steps before it.
func (v *books) checkJob(e Entry, a *account, bad func(string) error) error {
	a.named = true
	key := e.Dataset + "/" + e.Job // neither holds a slash
	p := v.jobs[key]
	if p == nil {
		p = &past{kind: Refunded} // a fresh ID and a refunded one may do the same
		v.jobs[key] = p
	}
	from := map[Kind][]Kind{Requested: {Refunded}, Approved: {Requested}, Refused: {Requested},
		Reserved: {Refunded, Approved}, Began: {Reserved}, Refunded: {Reserved}, Committed: {Began}, Closed: {Began},
		Published: {Committed}}
	if !slices.Contains(from[e.Kind], p.kind) {
		return bad(fmt.Sprintf("job %q cannot go from %s to %s", e.Job, p.kind, e.Kind))
	}
	price := dp.Price{Epsilon: e.Epsilon, Delta: e.Delta}
	if e.Kind == Requested || e.Kind == Reserved && p.kind == Refunded {
		p.request, p.part, p.price = e.Request, e.Part, price
	}
	switch {
	case e.Request != p.request || e.Part != p.part:
		return bad(fmt.Sprintf("job %q changed its request", e.Job))
	case e.Kind == Began && e.Part != "" && a.CohortBy != "" && !a.defined:
		return bad("a job on cohorts began before it was written down how they are read")
	}
	if _, err := a.partsOf(e.Part); err != nil {
		return bad("its part is not one that was declared")
	}
	p.kind = e.Kind
	switch e.Kind {
	case Requested:
		if price.Epsilon <= 0 || price.Delta < 0 {
			return bad("a request must have a price")
		}
		return nil
	case Reserved:
		if price != p.price {
			return bad("its price is not the one requested")
		}
		if price.Epsilon <= 0 || price.Epsilon > a.limit.Epsilon || price.Delta < 0 || price.Delta > a.limit.Delta ||
			!a.chargePrice(e.Part, price) {
			return bad("its price exceeds what was left")
		}
		return nil
	case Began, Refunded:
		if price != p.price {
			return bad("its price is not the one reserved")
		}
		if e.Kind == Refunded {
			a.chargePrice(e.Part, dp.Price{Epsilon: -price.Epsilon, Delta: -price.Delta})
		}
		return nil
	case Committed:
		var d committed
		if json.Unmarshal(e.Detail, &d) != nil {
			return bad("its detail is not as this program writes it")
		}
		v.results[e.Request] = d
	}
	if e.Epsilon != 0 || e.Delta != 0 {
		return bad("this step has no price")
	}
	return nil
}

// checkResults compares the stored results with the entries: each result must exist unchanged, and
// there must be no others.
func (v *books) checkResults(t tx) error {
	var stored []string
	if err := t.results(func(request string) error { stored = append(stored, request); return nil }); err != nil {
		return err
	}
	for _, request := range stored {
		want, ok := v.results[request]
		b, err := t.result(request)
		switch {
		case err != nil:
			return err
		case !ok:
			return &Damaged{v.seq, "a result is stored that no entry committed"}
		case hashOf(b) != want.SHA256 || int64(len(b)) != want.Bytes:
			return &Damaged{v.seq, "a stored result is not the one committed"}
		}
	}
	if len(stored) != len(v.results) {
		return &Damaged{v.seq, "a committed result is missing"}
	}
	return nil
}
