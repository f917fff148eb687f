// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// An entry of a role that is written past the checks, its chain and hash sound, is found by verify, and
// keeps the data set from being charged.
func TestForgedRolesAreRefused(t *testing.T) {
	ctx := context.Background()
	mallory := key("mallory")
	allotment := encodeDetail(allotted{Name: "bob", Key: keyName(bobKey)})
	asks := func(k ed25519.PrivateKey, id string) func(*Ledger) {
		return func(l *Ledger) { must(t, ask(l, by(k, id, "a"), 10)) }
	}
	approved := func(l *Ledger) {
		asks(aliceKey, "j")(l)
		must(t, l.Decide(ctx, officerKey, Decision{Dataset: "d", Job: "j", Approve: true, Until: noon}))
	}
	job := func(l *Ledger, kind Kind, k ed25519.PrivateKey, price dp.Epsilon) Entry {
		req := by(k, "j", "a")
		request, err := identify(l, req)
		must(t, err)
		return Entry{Kind: kind, Dataset: "d", Part: "a", Job: "j", Request: request, Epsilon: price,
			Detail: encodeDetail(reserved{Terms: req.Terms})}
	}
	for name, c := range map[string]struct {
		before func(*Ledger)
		forge  func(*Ledger) Entry
		key    ed25519.PrivateKey
		want   string
	}{
		"a charge without a key": {nil, func(l *Ledger) Entry { return job(l, Reserved, nil, 1) }, nil, "must be signed"},
		"a charge by a stranger": {nil, func(l *Ledger) Entry { return job(l, Reserved, mallory, 1) }, mallory,
			"has no allotment"},
		"a charge without an approval": {nil, func(l *Ledger) Entry { return job(l, Reserved, aliceKey, 1) }, aliceKey,
			"need an approval"},
		"a charge at another price": {approved, func(l *Ledger) Entry { return job(l, Reserved, aliceKey, 9) }, aliceKey,
			"as it was requested"},
		"a charge beyond the allotment": {nil, func(l *Ledger) Entry { return job(l, Reserved, bobKey, 31) }, bobKey,
			"allotment of bob"},
		"a charge after the approval": {approved, func(l *Ledger) Entry {
			e := job(l, Reserved, aliceKey, 10)
			e.At = noon.Add(time.Second).Format(time.RFC3339)
			return e
		}, aliceKey, "expired"},
		"a refusal by a stranger": {asks(aliceKey, "j"), func(l *Ledger) Entry { return job(l, Refused, aliceKey, 0) }, mallory,
			"only the data set's owner and approvers"},
		"an approval by who asked": {asks(aliceKey, "j"), func(l *Ledger) Entry { return job(l, Approved, aliceKey, 0) },
			aliceKey, "only the data set's owner and approvers"},
		"an approval without a key": {asks(aliceKey, "j"), func(l *Ledger) Entry { return job(l, Approved, aliceKey, 0) }, nil,
			"only the data set's owner and approvers"},
		"an approval of what nobody asked": {nil, func(l *Ledger) Entry { return job(l, Approved, aliceKey, 0) }, officerKey,
			"must have been requested"},
		"an allotment by an analyst": {nil, func(*Ledger) Entry {
			return Entry{Kind: Allotted, Dataset: "d", Epsilon: 60, Detail: allotment}
		}, bobKey, "only the data set's owner"},
		"too large an allotment": {nil, func(*Ledger) Entry {
			return Entry{Kind: Allotted, Dataset: "d", Epsilon: 61, Detail: allotment}
		}, ownerKey, "must fit into the total"},
		"a second owner": {nil, func(*Ledger) Entry {
			return Entry{Kind: Appointed, Dataset: "d", Detail: encodeDetail(appointed{Owner, "m", keyName(mallory), ""})}
		}, mallory, "has an owner already"},
		"an earlier allotment again": {func(l *Ledger) {
			must(t, l.Allot(ctx, ownerKey, Allotment{Dataset: "d", Name: "bob",
				Key: public(bobKey), Price: dp.Price{Epsilon: 1}}))
		}, func(l *Ledger) (e Entry) {
			must(t, l.History(ctx, "d", func(old Entry) error {
				if old.Kind == Allotted && old.Epsilon == 30 {
					e = old
				}
				return nil
			}))
			return e
		}, nil, "its signature is not of its key"},
		"a signature of another price": {nil, func(*Ledger) Entry {
			e := Entry{Kind: Allotted, Dataset: "d", Epsilon: 1, Detail: allotment}
			e.sign(ownerKey)
			e.Epsilon = 50
			return e
		}, nil, "its signature is not of its key"},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := inHeap()
			l.now = func() time.Time { return noon }
			giveRoles(t, l, "d", 100)
			if c.before != nil {
				c.before(l)
			}
			verify(t, l)
			e := c.forge(l)
			addUnchecked(t, l, e, c.key)
			var damaged *Damaged
			if _, err := l.Verify(ctx, nil); !errors.As(err, &damaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("verify: %v, want %q", err, c.want)
			}
			if err := spend(l, by(bobKey, "other", "b"), 1); !errors.As(err, &damaged) {
				t.Errorf("a charge after it: %v", err)
			}
		})
	}
}

// asker is an analyst's process with a job in its hands.
type asker struct {
	name    string
	key     ed25519.PrivateKey
	cohorts []string
	price   dp.Epsilon
}

var askers = []asker{
	{"a", aliceKey, []string{"x"}, 1},
	{"b", bobKey, []string{"x"}, 1},
	{"c", aliceKey, []string{"x", "y"}, 2},
}

// Of the data set of the askers: alice needs approvals and may spend 2, bob 1, in all 3 of each cohort.
const askersTotal = 3

var askersLimits = map[string]dp.Epsilon{keyName(aliceKey): 2, keyName(bobKey): 1}

// desk is the model: what has become of each job, and whether it was asked for and approved.
type desk struct {
	jobs            map[string]Kind
	asked, approved map[string]bool
}

// charged is what a cohort's jobs cost, of all analysts or of one.
func (d desk) charged(cohort string, of ed25519.PrivateKey) (sum dp.Epsilon) {
	for _, a := range askers {
		k := d.jobs[a.name]
		counts := k == Reserved || k == Began || k == Committed || k == Closed
		if counts && slices.Contains(a.cohorts, cohort) && (of == nil || of.Equal(a.key)) {
			sum += a.price
		}
	}
	return sum
}

func (d desk) step(what string, a asker) (next desk, granted bool) {
	next = desk{maps.Clone(d.jobs), maps.Clone(d.asked), maps.Clone(d.approved)}
	now := d.jobs[a.name]
	become := func(k Kind, granting bool) {
		if granted = granting; granted {
			next.jobs[a.name] = k
		}
	}
	switch what {
	case "request":
		if become(Requested, now == ""); granted {
			next.asked[a.name], next.approved[a.name] = true, false
		}
	case "approve":
		if become(Approved, now == Requested); granted {
			next.approved[a.name] = true
		}
	case "refuse":
		become(Refused, now == Requested)
	case "reserve":
		fits := true
		for _, c := range a.cohorts {
			fits = fits && d.charged(c, nil)+a.price <= askersTotal
		}
		next.jobs[a.name] = Reserved
		most := max(next.charged("x", a.key), next.charged("y", a.key))
		next.jobs[a.name] = now
		may := d.approved[a.name] || !d.asked[a.name] && a.key.Equal(bobKey)
		become(Reserved, (now == "" || now == Approved) && may && fits && most <= askersLimits[keyName(a.key)])
	case "begin":
		become(Began, now == Reserved)
	case "commit":
		become(Committed, now == Began)
	case "refund":
		become("", now == Reserved)
	case "close":
		become(Closed, now == Began)
	}
	return next, granted
}

// Every order of requests, decisions and steps of jobs on cohorts by two analysts: each is granted where
// the model grants it, from every state there is, and in each state the ledger verifies and its sums
// are the model's.
func TestEveryOrderOfRequests(t *testing.T) {
	ctx := context.Background()
	l, store := inHeap()
	l.now = func() time.Time { return noon }
	must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: askersTotal, CohortBy: "entry", Owner: ownerKey}))
	must(t, l.Appoint(ctx, ownerKey, Appointment{Dataset: "d", Role: Approver, Name: "officer", Key: public(officerKey)}))
	for name, k := range map[string]ed25519.PrivateKey{"alice": aliceKey, "bob": bobKey} {
		must(t, l.Allot(ctx, ownerKey, Allotment{Dataset: "d", Name: name, Key: public(k),
			Price: dp.Price{Epsilon: askersLimits[keyName(k)]}, Approval: name == "alice"}))
	}
	take := func(what string, a asker) error {
		req := by(a.key, a.name, a.cohorts...)
		price, b := bill(a.price)
		request, err := identify(l, req)
		must(t, err)
		j := &Job{l: l, req: req, request: request, price: price}
		switch what {
		case "request":
			return j.File(ctx, price, b, "why")
		case "approve", "refuse":
			return decide(l, officerKey, a.name, what == "approve")
		case "reserve":
			return j.reservePrice(ctx, price, b)
		case "begin":
			return j.beginReading(ctx)
		case "commit":
			state, err := stateOf(l, "d", a.name)
			if err != nil || state.kind == Committed { // once more is the same as once
				return errors.Join(err, errors.New("is committed"))
			}
			return j.Commit(ctx, []byte(a.name))
		case "refund":
			return l.refundJob(ctx, j.name(), j.request)
		}
		return l.closeJob(ctx, j.name(), j.request, "stopped")
	}
	type state struct {
		desk
		all    []Entry
		stored map[string][]byte
		way    string
	}
	key := func(d desk) string { return fmt.Sprint(d.jobs, d.asked, d.approved) }
	open := []state{{desk{map[string]Kind{}, map[string]bool{}, map[string]bool{}}, store.all, store.stored, ""}}
	seen := map[string]bool{key(open[0].desk): true}
	steps := 0
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		for _, what := range []string{"request", "approve", "refuse", "reserve", "begin", "commit", "refund", "close"} {
			for _, a := range askers {
				store.all, store.stored = slices.Clone(at.all), maps.Clone(at.stored)
				want, granted := at.step(what, a)
				way := fmt.Sprintf("%s %s:%s", at.way, a.name, what)
				err := take(what, a)
				if steps++; (err == nil) != granted {
					t.Fatalf("after%s: error %v, and the model grants it: %v", way, err, granted)
				}
				if err != nil {
					if len(store.all) != len(at.all) {
						t.Fatalf("after%s: a refused step leaves a trace", way)
					}
					continue
				}
				if seen[key(want)] {
					continue
				}
				seen[key(want)] = true
				verify(t, l)
				b := balanceOf(t, l)
				for _, c := range []string{"x", "y"} {
					left, err := b.LeftFor(c)
					if must(t, err); left.Epsilon != askersTotal-want.charged(c, nil) {
						t.Fatalf("after%s: %d is left of %s", way, left.Epsilon, c)
					}
				}
				open = append(open, state{want, store.all, store.stored, way})
			}
		}
	}
	if len(seen) < 300 {
		t.Errorf("%d states were reached", len(seen))
	}
	t.Logf("%d states, %d steps", len(seen), steps)
}
