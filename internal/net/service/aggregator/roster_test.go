// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// list is the roster of some owners of a book.
func list(t *testing.T, keys spending.Keys, owners ...int) tasks.Roster {
	t.Helper()
	var text strings.Builder
	for _, i := range owners {
		text.WriteString(keys.Name(i) + "\n")
	}
	r, err := tasks.ParseRoster([]byte(text.String()))
	must(t, err)
	return r
}

// TestSybilsAreRefused lets a machine bring 2,000 keys to a task whose list has
// ten of them. Each other one's report, though honest and signed, is refused with
// the problem that says so, also by the next process; the model is that of the
// ten.
func TestSybilsAreRefused(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) {
		a.Task.Rounds = a.Task.Rounds[:1]
		a.Minimum, a.Quiet = 2, 0
	})
	id, err := ann.Task.Digest()
	must(t, err)
	a := newAdversary(t, f, ann, id, 2000)
	admitted := slices.Concat(a.slots[0][:7], a.slots[1][:3])
	roster := list(t, a.keys, admitted...)
	ann.Roster = roster.Digest()
	f.announce(ann, roster)
	client := f.client(f.identity(identity.Owner, "mallory"))
	var honest [][]byte
	for slot := range a.slots {
		round, _ := a.crowd(client, 0)
		var sent []*rpc.SignedReport
		var want []problem.Kind
		for _, owner := range a.slots[slot] {
			s, kind := a.sign(owner, a.honest(round, owner).Append(nil)), problem.UnknownOwner
			if slices.Contains(admitted, owner) {
				honest, kind = append(honest, s.GetReport()), problem.Kind{}
			}
			sent, want = append(sent, s), append(want, kind)
		}
		a.upload(client, sent, want)
		f.serve()
		client = f.client(f.identity(identity.Owner, "mallory"))
		a.upload(client, sent, want)
		f.ahead.Add(int64(ann.Slot))
		if slot == 0 {
			f.waitSlot(client, id, 1)
		}
	}
	if len(honest) != 10 || !bytes.Equal(f.model(id), ofReports(t, ann.Task, honest)) {
		t.Error("the model is not that of the ten on the list")
	}
}

// TestOwnersLookForThemselves lets a machine with 300 owners meet a list of 200 of
// them: the others spend nothing. Where the aggregator shows another list than
// the operator has signed, no one answers.
func TestOwnersLookForThemselves(t *testing.T) {
	var swapped tasks.Roster
	f := newFederation(t)
	f.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != rpc.AggregatorGetRosterProcedure || swapped == nil {
				next.ServeHTTP(w, r)
				return
			}
			b, err := proto.Marshal(&rpc.GetRosterResponse{Keys: swapped})
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/proto")
			w.Write(b)
		})
	}
	f.serve()
	owners := f.owners(300, 1)
	keys, err := owners.Book.Keys(t.Context(), 300)
	must(t, err)
	var some []int
	for i := range 300 {
		if i%3 > 0 {
			some = append(some, i)
		}
	}
	roster := list(t, keys, some...)
	ann := f.plan(func(a *tasks.Announcement) {
		a.Task.Rounds = a.Task.Rounds[:1]
		a.Roster = roster.Digest()
	})
	id := f.announce(ann, roster)
	swapped = list(t, keys, some[1:]...)
	if _, err := owners.Run(t.Context(), id); err == nil ||
		!strings.Contains(err.Error(), "another than the operator has signed") {
		t.Errorf("%v: want the list refused", err)
	}
	swapped = nil
	sum, err := owners.Run(t.Context(), id)
	must(t, err)
	if sum.Accepted != 200 || sum.Strange != 100 {
		t.Errorf("%+v: want 200 accepted, 100 strange", *sum)
	}
	given, err := owners.Book.For(t.Context(), id)
	must(t, err)
	for i := range 300 {
		if _, found := given[i]; found != roster.Has(keys.Public(i)) {
			t.Errorf("owner %d has given: %v", i, found)
		}
	}
	strangers := f.owners(30, 2)
	if _, err := strangers.Run(t.Context(), id); kindOfNil(err) != problem.UnknownOwner {
		t.Errorf("%v: want an unknown owner", err)
	}
}

// TestLongRosters admits half a million owners, 16 MB of keys.
func TestLongRosters(t *testing.T) {
	f := newFederation(t)
	f.serve()
	owners := size.Of(50_000, 500_000)
	keys := make(tasks.Roster, 32*owners)
	for i := range owners {
		binary.BigEndian.PutUint32(keys[32*i:], uint32(i+1))
	}
	id := f.announce(f.plan(func(a *tasks.Announcement) { a.Roster = keys.Digest() }), keys)
	f.serve()
	r, err := f.client(f.identity(identity.Owner, "clinic")).GetRoster(t.Context(),
		connect.NewRequest(&rpc.GetRosterRequest{TaskId: id[:]}))
	must(t, err)
	if !bytes.Equal(r.Msg.GetKeys(), keys) {
		t.Error("another list came back")
	}
}

// TestUnsafeRostersAreRefused announces lists that are not what they say.
func TestUnsafeRostersAreRefused(t *testing.T) {
	f := newFederation(t)
	f.serve()
	keys, err := f.owners(3, 1).Book.Keys(t.Context(), 3)
	must(t, err)
	two, three := list(t, keys, 0, 1), list(t, keys, 0, 1, 2)
	operator := f.identity(identity.Operator, "anna")
	for name, c := range map[string]struct {
		named, given tasks.Roster
	}{
		"another":      {two, three},
		"none":         {two, nil},
		"not named":    {nil, two},
		"half a key":   {two[:48], two[:48]},
		"out of order": {slices.Concat(two[32:], two[:32]), slices.Concat(two[32:], two[:32])},
	} {
		ann := f.plan(func(a *tasks.Announcement) {
			if c.named != nil {
				a.Roster = c.named.Digest()
			}
		})
		signed, err := ann.Sign(operator)
		must(t, err)
		_, err = f.client(operator).CreateTask(t.Context(),
			connect.NewRequest(&rpc.CreateTaskRequest{Task: message(signed), Roster: c.given}))
		if kindOfNil(err) != problem.UnsafeTask {
			t.Errorf("%s: %v, want an unsafe task", name, err)
		}
	}
	ann := f.plan(func(a *tasks.Announcement) { a.Roster = three.Digest() })
	text, err := ann.Text()
	must(t, err)
	if again, err := tasks.Parse(text); err != nil || again.Roster != three.Digest() {
		t.Errorf("%v: the announcement lost its list", err)
	}
	if _, err := tasks.Parse(bytes.Replace(text, []byte(`"roster":"`), []byte(`"roster":"00`), 1)); err == nil {
		t.Error("a digest too long was read")
	}
	zero, err := f.plan(nil).Text()
	must(t, err)
	named := bytes.Replace(zero, []byte(`,"task":`), []byte(`,"roster":"`+strings.Repeat("0", 64)+`","task":`), 1)
	if _, err := tasks.Parse(named); err == nil {
		t.Error("a list that is none was read: two texts for one announcement")
	}
}
