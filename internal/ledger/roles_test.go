// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// key is a key of its own for each name.
func key(name string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte((name + strings.Repeat(".", ed25519.SeedSize))[:ed25519.SeedSize]))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

var ownerKey, officerKey, aliceKey, bobKey = key("owner"), key("officer"), key("alice"), key("bob")

// noon is the time of the tests.
var noon = time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)

// owned makes a ledger with one data set, d, of ε = 100 with cohorts and an owner; alice may spend 40
// if each job is approved, bob 30.
func owned(t testing.TB, p place) *Ledger {
	t.Helper()
	l := create(t, p)
	l.now = func() time.Time { return noon }
	giveRoles(t, l, "d", 100)
	return l
}

func giveRoles(t testing.TB, l *Ledger, dataset string, total dp.Epsilon) {
	t.Helper()
	ctx := context.Background()
	must(t, l.Declare(ctx, Dataset{Name: dataset, Epsilon: total, CohortBy: "entry", Owner: ownerKey}))
	must(t, l.Appoint(ctx, ownerKey, Appointment{Dataset: dataset, Role: Approver, Name: "officer", Key: public(officerKey)}))
	for _, a := range []Allotment{
		{Name: "alice", Key: public(aliceKey), Price: dp.Price{Epsilon: total * 2 / 5}, Approval: true},
		{Name: "bob", Key: public(bobKey), Price: dp.Price{Epsilon: total * 3 / 10}},
	} {
		a.Dataset = dataset
		must(t, l.Allot(ctx, ownerKey, a))
	}
}

// by is a request of an analyst.
func by(k ed25519.PrivateKey, id string, cohorts ...string) Request {
	req := request(id)
	if len(cohorts) > 0 {
		req = onCohorts(id, cohorts...)
	}
	req.By = k
	return req
}

func ask(l *Ledger, req Request, price dp.Epsilon) error {
	j, err := l.Job(context.Background(), req)
	if err != nil {
		return err
	}
	p, b := bill(price)
	return j.File(context.Background(), p, b, "to see who returns")
}

func spend(l *Ledger, req Request, price dp.Epsilon) error {
	j, err := l.Job(context.Background(), req)
	if err != nil {
		return err
	}
	return charge(context.Background(), j, price)
}

func decide(l *Ledger, k ed25519.PrivateKey, job string, approve bool) error {
	return l.Decide(context.Background(), k, Decision{Dataset: "d", Job: job, Approve: approve})
}

// wants fails unless err is a refusal that says so.
func wants(t testing.TB, what string, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want %q", what, err, words)
	}
}

// A job goes its way from a request to a model, and the report says who spent what on which.
func TestRequestGoesItsWay(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := owned(t, fresh(t))
		ctx := t.Context()
		req := by(aliceKey, "spring", "a", "b")
		wants(t, "without an approval", spend(l, req, 10), "trainings of alice need an approval")
		must(t, ask(l, req, 10))
		wants(t, "asked for", spend(l, req, 10), "waits for an approval")
		wants(t, "asked twice", ask(l, req, 10), "waits for an approval")
		wants(t, "her own request", decide(l, aliceKey, "spring", true), "only the data set's owner and approvers")
		must(t, decide(l, officerKey, "spring", true))
		wants(t, "decided twice", decide(l, ownerKey, "spring", false), "must be requested before")
		wants(t, "at another price", spend(l, req, 11), "must be approved as it was requested")
		wants(t, "by another key", spend(l, by(bobKey, "spring", "a", "b"), 10), "was used for another configuration")
		must(t, spend(l, req, 10))

		other := by(aliceKey, "summer")
		must(t, ask(l, other, 10))
		must(t, l.Decide(ctx, ownerKey, Decision{Dataset: "d", Job: "summer", Reason: "too dear"}))
		wants(t, "refused", spend(l, other, 10), "was refused")
		must(t, spend(l, by(bobKey, "b", "b"), 20))

		got, err := l.Report(ctx, "d")
		must(t, err)
		if len(got) != 3 || got[0].By != "alice" || got[0].State != Began || got[0].Epsilon != 10 ||
			got[0].DecidedBy != "officer" || got[0].Purpose != "to see who returns" || got[0].Part != "a,b" ||
			got[1].State != Refused || got[1].DecidedBy != "owner" || got[1].Reason != "too dear" ||
			got[2].By != "bob" || got[2].Epsilon != 20 {
			t.Errorf("report %+v", got)
		}
		who, err := l.Members(ctx, "d")
		must(t, err)
		if len(who) != 4 || who[0].Role != "owner" || who[2].Name != "alice" || *who[2].Charged != 10 ||
			*who[3].Allotted != 30 || *who[3].Charged != 20 {
			t.Errorf("members %+v", who)
		}
		verify(t, l)
	})
}

// Each step is for its key only.
func TestOnlyTheirKeysDoIt(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := owned(t, fresh(t))
		ctx := t.Context()
		allot := func(k ed25519.PrivateKey, a Allotment) error { a.Dataset = "d"; return l.Allot(ctx, k, a) }
		appoint := func(k ed25519.PrivateKey, a Appointment) error { a.Dataset = "d"; return l.Appoint(ctx, k, a) }
		more := Allotment{Name: "bob", Key: public(bobKey), Price: dp.Price{Epsilon: 60}}
		wants(t, "an analyst allots", allot(bobKey, more), "only the data set's owner")
		wants(t, "an approver allots", allot(officerKey, more), "only the data set's owner")
		wants(t, "too much is promised", allot(ownerKey, Allotment{Name: "bob", Key: public(bobKey),
			Price: dp.Price{Epsilon: 61}}), "must fit into the total")
		must(t, allot(ownerKey, more))
		wants(t, "a name twice", allot(ownerKey, Allotment{Name: "bob", Key: public(key("x"))}), "one key's only")
		wants(t, "no name", allot(ownerKey, Allotment{Key: public(key("x"))}), "a name must be")
		wants(t, "a key of small order", allot(ownerKey, Allotment{Name: "x", Key: make([]byte, 32)}), "small order")
		wants(t, "another owner", appoint(bobKey, Appointment{Role: Owner, Name: "bob", Key: public(bobKey)}),
			"has an owner already")
		wants(t, "an approver by an approver", appoint(officerKey, Appointment{Role: Approver, Name: "x",
			Key: public(key("x"))}), "only the data set's owner")
		wants(t, "an unknown role", appoint(ownerKey, Appointment{Role: "king", Name: "x", Key: public(key("x"))}),
			"a role must be")
		wants(t, "no key", spend(l, request("x"), 1), "key must be given")
		wants(t, "an unknown key", spend(l, by(key("x"), "x"), 1), "has no allotment")
		wants(t, "the owner's key", spend(l, by(ownerKey, "x"), 1), "has no allotment")

		// An approver with an allotment does not approve what it asked for.
		must(t, allot(ownerKey, Allotment{Name: "officer", Key: public(officerKey), Approval: true}))
		must(t, ask(l, by(officerKey, "mine"), 1))
		wants(t, "its own request", decide(l, officerKey, "mine", true), "by another key than the one that made it")
		must(t, decide(l, ownerKey, "mine", true))

		// A data set without an owner takes no keys, and can be given an owner once, by that owner.
		must(t, l.Declare(ctx, Dataset{Name: "e", Epsilon: 100}))
		early := request("early")
		early.Dataset = "e"
		j := mustJob(t, l, early)
		signed := by(bobKey, "x")
		signed.Dataset = "e"
		wants(t, "a key without an owner", spend(l, signed, 1), "key must not be given: the data set has no owner (got one)")
		wants(t, "an allotment without an owner", l.Allot(ctx, ownerKey, Allotment{Dataset: "e", Name: "bob",
			Key: public(bobKey)}), "must have an owner first")
		wants(t, "an owner by another key", l.Appoint(ctx, bobKey, Appointment{Dataset: "e", Role: Owner, Name: "o",
			Key: public(ownerKey)}), "must sign the appointment")
		first := request("first")
		first.Dataset = "e"
		must(t, spend(l, first, 10))
		must(t, l.Appoint(ctx, ownerKey, Appointment{Dataset: "e", Role: Owner, Name: "o", Key: public(ownerKey)}))
		wants(t, "a job from before the owner", charge(ctx, j, 1), "key must be given")
		wants(t, "more than is left", l.Allot(ctx, ownerKey, Allotment{Dataset: "e", Name: "bob", Key: public(bobKey),
			Price: dp.Price{Epsilon: 91}}), "must fit into the total")
		must(t, l.Allot(ctx, ownerKey, Allotment{Dataset: "e", Name: "bob", Key: public(bobKey),
			Price: dp.Price{Epsilon: 90}}))
		must(t, spend(l, signed, 1))
		verify(t, l)
	})
}

// An allotment is charged as the total is: by cohorts, so that it renews with them.
func TestAllotmentsAreWithinTheTotal(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := owned(t, fresh(t))
		must(t, spend(l, by(bobKey, "b1", "a"), 20))
		var exceeded *Exceeded
		err := spend(l, by(bobKey, "b2", "a", "b"), 11)
		if !errors.As(err, &exceeded) || exceeded.Analyst != "bob" || exceeded.Limit != 30 ||
			!strings.Contains(err.Error(), `data set "d", allotment of bob: spent`) {
			t.Errorf("beyond the allotment: %v", err)
		}
		must(t, spend(l, by(bobKey, "b3", "b"), 30)) // another cohort
		must(t, spend(l, by(bobKey, "b4", "a"), 10))
		j := mustJob(t, l, by(bobKey, "b5", "c"))
		p, b := bill(5)
		must(t, j.reservePrice(t.Context(), p, b))
		if err := spend(l, by(bobKey, "b6", "c"), 26); !errors.As(err, &exceeded) {
			t.Errorf("what is reserved is forgotten: %v", err)
		}
		must(t, l.refundJob(t.Context(), j.name(), j.request))
		must(t, spend(l, by(bobKey, "b6", "c"), 26))
		// The total holds whatever is allotted.
		must(t, l.Allot(t.Context(), ownerKey, Allotment{Dataset: "d", Name: "bob", Key: public(bobKey),
			Price: dp.Price{Epsilon: 5}}))
		if err := spend(l, by(bobKey, "b7", "d"), 1); !errors.As(err, &exceeded) || exceeded.Analyst != "bob" {
			t.Errorf("a lowered allotment: %v", err)
		}
		verify(t, l)
	})
}

// What has expired is not granted, and a clock that is set back does not bring it back.
func TestExpiryStaysPassed(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := owned(t, fresh(t))
		ctx := t.Context()
		at := noon
		l.now = func() time.Time { return at }
		must(t, ask(l, by(aliceKey, "spring"), 10))
		must(t, ask(l, by(aliceKey, "summer"), 10))
		for _, job := range []string{"spring", "summer"} {
			must(t, l.Decide(ctx, officerKey, Decision{Dataset: "d", Job: job, Approve: true, Until: noon.Add(time.Hour)}))
		}
		must(t, l.Allot(ctx, ownerKey, Allotment{Dataset: "d", Name: "bob", Key: public(bobKey),
			Price: dp.Price{Epsilon: 30}, Until: noon.Add(time.Hour)}))
		must(t, l.Appoint(ctx, ownerKey, Appointment{Dataset: "d", Role: Approver, Name: "officer", Key: public(officerKey),
			Until: noon.Add(time.Hour)}))
		at = noon.Add(time.Hour)
		must(t, spend(l, by(aliceKey, "spring"), 10)) // the last second counts
		must(t, spend(l, by(bobKey, "b"), 10))
		must(t, ask(l, by(aliceKey, "autumn"), 10))
		at = noon.Add(time.Hour + time.Second)
		check := func() {
			t.Helper()
			wants(t, "an approval", spend(l, by(aliceKey, "summer"), 10), "the approval of job \"summer\" expired")
			wants(t, "an allotment", spend(l, by(bobKey, "b2"), 10), "the allotment of bob expired")
			wants(t, "an approver", decide(l, officerKey, "autumn", true), "the appointment of officer expired")
		}
		check()
		must(t, l.Declare(ctx, Dataset{Name: "e", Epsilon: 1})) // any entry holds the time
		at = noon
		check()
		// What an expired allotment did not use can be allotted again.
		must(t, l.Allot(ctx, ownerKey, Allotment{Dataset: "d", Name: "alice", Key: public(aliceKey),
			Price: dp.Price{Epsilon: 90}}))
		wants(t, "what it used cannot", l.Allot(ctx, ownerKey, Allotment{Dataset: "d", Name: "alice", Key: public(aliceKey),
			Price: dp.Price{Epsilon: 91}}), "must fit into the total")
		verify(t, l)
	})
}
