// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// TestHopelessTasksAreRefused: the aggregator holds every task against public numbers
// by itself, whatever the operator's own program has looked at. A task that it has
// taken stays taken.
func TestHopelessTasksAreRefused(t *testing.T) {
	f := newFederation(t)
	f.serve()
	keys, err := f.owners(3, 1).Book.Keys(t.Context(), 3)
	must(t, err)
	three := list(t, keys, 0, 1, 2)
	brief, err := f.authority.Issue(identity.Caller{Role: identity.Operator, Name: "brief"}, nil, time.Now(),
		5*time.Minute)
	must(t, err)
	anna := f.identity(identity.Operator, "anna")
	create := func(by *identity.Identity, owners uint64, roster tasks.Roster, change func(*tasks.Announcement)) error {
		ann := f.plan(change)
		if roster != nil {
			ann.Roster = roster.Digest()
		}
		signed, err := ann.Sign(by)
		must(t, err)
		_, err = f.client(by).CreateTask(t.Context(),
			connect.NewRequest(&rpc.CreateTaskRequest{Task: message(signed), Roster: roster, Owners: owners}))
		return err
	}
	for name, c := range map[string]struct {
		by     *identity.Identity
		owners uint64
		roster tasks.Roster
		change func(*tasks.Announcement)
	}{
		"50 owners, minimum 100":       {anna, 50, nil, func(a *tasks.Announcement) { a.Minimum = 100 }},
		"a small error slot":           {anna, 2000, nil, func(a *tasks.Announcement) { a.Minimum = 100 }},
		"fewer listed than expected":   {anna, 4, three, nil},
		"fewer listed than needed":     {anna, 0, three, func(a *tasks.Announcement) { a.Minimum = 4 }},
		"a certificate that ends":      {brief, 600, nil, nil},
		"slots longer than the task":   {anna, 600, nil, func(a *tasks.Announcement) { a.Quiet, a.Slot = 0, 3*time.Minute }},
		"more owners than can be true": {anna, 1 << 63, three, nil},
	} {
		if err := create(c.by, c.owners, c.roster, c.change); kindOfNil(err) != problem.Infeasible {
			t.Errorf("%s: %v, want it refused as infeasible", name, err)
		}
	}
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	long := func(a *tasks.Announcement) { a.Quiet, a.Slot, a.Ends = 0, 10*time.Minute, ends }
	must(t, create(anna, 600, nil, long))
	f.ahead.Store(int64(50 * time.Minute)) // too late for a new task of so many slots
	must(t, create(anna, 600, nil, long))
}

// TestWhoSignedATaskClosesIt, and no other operator does.
func TestWhoSignedATaskClosesIt(t *testing.T) {
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(nil))
	anna, eve := f.client(f.identity(identity.Operator, "anna")), f.client(f.identity(identity.Operator, "eve"))
	end := func(c rpc.AggregatorClient) error {
		_, err := c.CloseTask(t.Context(), connect.NewRequest(&rpc.CloseTaskRequest{TaskId: id[:]}))
		return err
	}
	if err := end(eve); kindOfNil(err) != problem.Forbidden {
		t.Errorf("another operator closes a task: %v", err)
	}
	if got := f.state(eve, id).GetState(); got != rpc.State_STATE_OPEN {
		t.Errorf("the task is %s", got)
	}
	must(t, end(anna)) // under another certificate than the one that signed
	if got := f.state(eve, id).GetState(); got != rpc.State_STATE_CLOSED {
		t.Errorf("the task is %s", got)
	}
	must(t, end(anna))
}
