// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// puppeteer is an aggregator alone: it puts one listed owner into a sum with owners
// that it has invented, whose vectors it knows and who add no noise.
type puppeteer struct {
	rpc.UnimplementedAggregatorHandler
	task      *rpc.SignedTask
	list      tasks.Roster
	broadcast []byte
	sum       *rpc.SignedSum
	id        wire.Digest
	slots     uint32
	over      int32 // after how many questions the task has ended; 0: never
	asked     atomic.Int32
}

func (p *puppeteer) GetTask(context.Context,
	*connect.Request[rpc.GetTaskRequest]) (*connect.Response[rpc.GetTaskResponse], error) {
	return connect.NewResponse(&rpc.GetTaskResponse{Task: p.task}), nil
}

func (p *puppeteer) GetRoster(context.Context,
	*connect.Request[rpc.GetRosterRequest]) (*connect.Response[rpc.GetRosterResponse], error) {
	return connect.NewResponse(&rpc.GetRosterResponse{Keys: p.list}), nil
}

func (p *puppeteer) GetRound(context.Context,
	*connect.Request[rpc.GetRoundRequest]) (*connect.Response[rpc.GetRoundResponse], error) {
	if p.over > 0 && p.asked.Add(1) > p.over {
		return connect.NewResponse(
			&rpc.GetRoundResponse{State: &rpc.TaskState{TaskId: p.id[:], State: rpc.State_STATE_CLOSED}}), nil
	}
	return connect.NewResponse(&rpc.GetRoundResponse{
		State:     &rpc.TaskState{TaskId: p.id[:], State: rpc.State_STATE_OPEN, Slots: p.slots, Sharing: true},
		Broadcast: p.broadcast, Sum: p.sum, RetryAfterMs: 100,
	}), nil
}

func (p *puppeteer) Upload(context.Context,
	*connect.Request[rpc.UploadRequest]) (*connect.Response[rpc.UploadResponse], error) {
	return connect.NewResponse(new(rpc.UploadResponse)), nil
}

// TestInventedOwnersGetNothing: an aggregator alone, with honest helpers and an owner
// whose program is as it should be, learns nothing of the one listed owner that it puts
// among owners of its own. Helpers do not begin the sum, whatever they are shown; an
// owner gives no share to it, and pays nothing.
func TestInventedOwnersGetNothing(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve() // for the owner's certificate alone
	ann := f.secretPlan(c, 3, wholly)
	const people = 60
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	operator, main := f.identity(identity.Operator, "anna"), f.identity(identity.Aggregator, "main")
	signed, err := ann.Sign(operator)
	must(t, err)
	id, err := ann.Task.Digest()
	must(t, err)
	placing, err := ann.Task.Placing()
	must(t, err)
	keys, err := owners.Book.Keys(t.Context(), people)
	must(t, err)
	victim := 0
	for placing.Of(keys.Name(victim)).Slot != 0 {
		victim++
	}
	roster := []secretsum.Key{keys.Public(victim)}
	for len(roster) < 30 {
		public, _, err := ed25519.GenerateKey(nil)
		must(t, err)
		roster = append(roster, secretsum.Key(public))
	}
	slices.SortFunc(roster, func(a, b secretsum.Key) int { return bytes.Compare(a[:], b[:]) })
	assembled, err := core.New(ann.Task)
	must(t, err)
	must(t, assembled.Assemble(len(roster), ann.Leaned(len(roster), f.list.Len())))
	broadcast, err := assembled.Broadcast()
	must(t, err)
	clients := c.Clients(main)
	meeting, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	secret, err := tasks.SecretSum(ann, broadcast, roster, helpertest.Meet(meeting, clients),
		time.Now().Add(secretsum.Keep))
	must(t, err)
	sum, err := secret.Sign(main)
	must(t, err)
	sumID, err := secret.ID()
	must(t, err)

	var wider []byte
	strangers := slices.DeleteFunc(slices.Clone(roster), func(k secretsum.Key) bool { return f.list.Has(k) })
	for _, k := range append(strangers, listKeys(f.list)...) {
		wider = fmt.Appendf(wider, "%x\n", k)
	}
	own, err := tasks.ParseRoster(wider)
	must(t, err)
	forged := *ann
	forged.Roster, forged.Honest = own.Digest(), own.Len()
	byAggregator, err := forged.Sign(main)
	must(t, err)
	for name, why := range map[string]*secretsum.Admission{
		"nothing":                     nil,
		"the task, without the list":  {Announcement: signed.Text, Signature: signed.Signature},
		"the task and the list":       {Announcement: signed.Text, Signature: signed.Signature, List: f.list},
		"the task and its own list":   {Announcement: signed.Text, Signature: signed.Signature, List: own},
		"a task that it signed":       {Announcement: byAggregator.Text, Signature: byAggregator.Signature, List: own},
		"a task with a bent list":     {Announcement: byAggregator.Text, Signature: signed.Signature, List: own},
		"the list alone":              {List: f.list},
		"a task of nobody, own list":  {Announcement: byAggregator.Text, List: own},
		"the sum as its announcement": {Announcement: sum.Bytes, Signature: sum.Signature, List: own},
	} {
		if err := clients[0].Begin(t.Context(), sum, why); kindOfNil(err) != problem.UnsafeTask {
			t.Errorf("a helper that is shown %s: %v, want a refusal", name, err)
		}
	}
	// Of the listed owners a sum is begun, but in their order.
	honest := *secret
	honest.Roster = listKeys(f.list)
	for range 2 {
		sum, err := honest.Sign(main)
		must(t, err)
		want := problem.Kind{}
		if !honest.Ordered() {
			want = problem.UnsafeTask
		}
		if err := clients[0].Begin(t.Context(), sum,
			&secretsum.Admission{Announcement: signed.Text, Signature: signed.Signature, List: f.list}); kindOfNil(err) != want {
			t.Errorf("a sum of the listed owners, in order: %t: %v", honest.Ordered(), err)
		}
		slices.Reverse(honest.Roster)
	}
	honest.Proofs, honest.Round = !ann.Proofs, secret.Round
	slices.SortFunc(honest.Roster, func(a, b secretsum.Key) int { return bytes.Compare(a[:], b[:]) })
	demanding, err := honest.Sign(main)
	must(t, err)
	if err := clients[0].Begin(t.Context(), demanding, &secretsum.Admission{Announcement: signed.Text,
		Signature: signed.Signature, List: f.list}); kindOfNil(err) != problem.UnsafeTask || !strings.Contains(err.Error(),
		"proofs") {
		t.Errorf("a sum that demands proofs, of a task that does not: %v", err)
	}

	p := &puppeteer{task: message(signed), list: f.list, broadcast: broadcast, sum: sum.Proto(), id: id,
		slots: uint32(ann.Task.Slots())}
	_, calls := rpc.NewAggregatorHandler(p)
	server := httptest.NewUnstartedServer(calls)
	server.TLS, server.EnableHTTP2 = main.Server(), true
	server.StartTLS()
	defer server.Close()
	owners.Server = server.URL
	if _, err := owners.Run(t.Context(), id); err == nil || !strings.Contains(err.Error(), "not on the task's list") {
		t.Errorf("the owner says %v, want that strangers are in the sum", err)
	}
	wantNothingGiven(t, owners.Book, id)
	for h, client := range clients {
		if n, _, err := client.Progress(t.Context(), sumID); kindOfNil(err) != problem.UnknownTask {
			t.Errorf("helper %d has %d shares, %v", h, n, err)
		}
	}
}

func listKeys(r tasks.Roster) (keys []secretsum.Key) {
	for i := range r.Len() {
		keys = append(keys, secretsum.Key(r[32*i:]))
	}
	return keys
}

// TestOwnersSayHowManyAreHonest: a task that counts on more honest owners than an owner
// does is not answered, nor paid for.
func TestOwnersSayHowManyAreHonest(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	ann := f.secretPlan(c, 3, wholly)
	owners := f.crowd(ann, 60, 1)
	f.enlist(ann, 60, owners.Book)
	id := f.announce(ann)
	for _, honest := range []int{0, ann.Honest - 1} {
		owners.Honest = honest
		var refused *dp.ParamError
		if _, err := owners.Run(t.Context(), id); !errors.As(err, &refused) || refused.Param != "honest" {
			t.Errorf("%d honest: %v, want a refusal", honest, err)
		}
	}
	wantNothingGiven(t, owners.Book, id)
}

// heard is a log that can be searched.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) lineWith(words ...string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for line := range strings.Lines(h.text.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

// TestCulpritIsNamedAndLeftOut: one listed owner among honest ones sends shares that do
// not belong together, or proves one thing to some helpers and another to the rest. The
// sum finishes, the aggregator's log names the owner's key, and the model is the honest
// owners' one. Numbers out of range, consistently shared, end the task, at once.
func TestCulpritIsNamedAndLeftOut(t *testing.T) {
	size.OnlyLong(t, "eight sums over TLS; the helper's TestHostileShares and TestHostileSums have each refusal")
	const unshown = "whose numbers are not shown to be in range"
	for name, cheat := range map[string]func(s *secretsum.Sum, me int) ([]secsum.Message, error){
		"gave helper h1 a share that contradicts": func(s *secretsum.Sum, me int) ([]secsum.Message, error) {
			return helpertest.Forge(s, me, 1)
		},
		"gave helpers different proofs": func(s *secretsum.Sum, me int) ([]secsum.Message, error) {
			p, err := s.Protocol()
			if err != nil {
				return nil, err
			}
			one, err := p.Split(rng.System(), me, make([]uint64, s.Length))
			if err != nil {
				return nil, err
			}
			another, err := p.Split(rng.System(), me, make([]uint64, s.Length))
			return append(one[:2], another[2]), err
		},
		// Consistent shares of numbers out of range.
		unshown: func(s *secretsum.Sum, me int) ([]secsum.Message, error) { return helpertest.Forge(s, me, -1) },
		unshown + ", one beyond": func(s *secretsum.Sum, me int) ([]secsum.Message, error) {
			return helpertest.ForgeNumber(s, me, new(big.Int).SetUint64(s.Range))
		},
		unshown + ", below zero": func(s *secretsum.Sum, me int) ([]secsum.Message, error) {
			return helpertest.ForgeNumber(s, me, big.NewInt(-1))
		},
		unshown + ", half the field": func(s *secretsum.Sum, me int) ([]secsum.Message, error) {
			return helpertest.ForgeNumber(s, me, new(big.Int).Lsh(big.NewInt(1), 251))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFederation(t)
			log := new(heard)
			f.log = slog.New(slog.NewTextHandler(io.MultiWriter(testWriter{t}, log), nil))
			c := helpertest.New(t, f.log, f.authority, 3)
			f.serve()
			ann := f.secretPlan(c, 3, wholly)
			const people = 40
			owners, culprit := f.crowd(ann, people, 1), f.owners(20, 2)
			placing, err := ann.Task.Placing()
			must(t, err)
			keys, err := culprit.Book.Keys(t.Context(), 20)
			must(t, err)
			i := 0
			for placing.Of(keys.Name(i)).Slot != 0 {
				i++
			}
			f.enlist(ann, 20, culprit.Book)
			both := append(listKeys(f.list), nil...)
			f.enlist(ann, people, owners.Book)
			var text []byte
			for _, k := range append(both, listKeys(f.list)...) {
				text = fmt.Appendf(text, "%x\n", k)
			}
			f.list, err = tasks.ParseRoster(text)
			must(t, err)
			ann.Roster, ann.Honest = f.list.Digest(), f.list.Len()-1
			id := f.announce(ann)
			self := f.identity(identity.Owner, "culprit")
			client := f.client(self)
			report := (&wire.Report{Task: id, Owner: keys.Name(i)}).Append(nil)
			_, err = client.Upload(t.Context(),
				connect.NewRequest(&rpc.UploadRequest{TaskId: id[:],
					Reports: []*rpc.SignedReport{{Report: report, Signature: ed25519.Sign(keys.At(i), tasks.Signable(report))}}}))
			must(t, err)
			honest := 0
			theirs, err := owners.Book.Keys(t.Context(), people)
			must(t, err)
			for j := range people {
				if placing.Of(theirs.Name(j)).Slot == 0 {
					honest++
				}
			}
			done := make(chan error, 1)
			go func() {
				_, err := owners.Run(t.Context(), id)
				done <- err
			}()
			pause := func() { <-time.After(20 * time.Millisecond) }
			for f.stored(client, id) < honest+1 {
				pause()
			}
			f.ahead.Add(int64(ann.Slot)) // the roster is fixed
			var shown *rpc.SignedSum
			for ; shown == nil; pause() {
				shown = f.standing(client, id).GetSum()
			}
			s, sumID, err := secretsum.FromProto(shown).Open(self, time.Now())
			must(t, err)
			me := 0
			for s.Roster[me] != secretsum.Key(keys.Public(i)) {
				me++
			}
			messages, err := cheat(s, me)
			must(t, err)
			shares := [][]secretsum.Share{make([]secretsum.Share, len(messages))}
			for h, m := range messages {
				shares[0][h], err = secretsum.Seal(m, keys.At(i))
				must(t, err)
			}
			secretsum.Deliver(t.Context(), sumID, c.Clients(self), shares)
			for _, h := range c.Clients(f.identity(identity.Aggregator, "main")) {
				for n := 0; n < honest; pause() {
					n, _, err = h.Progress(t.Context(), sumID)
					must(t, err)
				}
			}
			f.endSlot(client, id, 0, ann.Slot)
			for f.stored(client, id) < people-honest {
				pause()
			}
			f.ahead.Add(int64(ann.Slot))
			must(t, <-done)
			if got := f.model(id); !bytes.Equal(got, f.secretly(ann, people, owners.Book)) {
				t.Error("the model is not that of the honest owners' shares")
			}
			what, _, _ := strings.Cut(name, ",")
			if !log.lineWith(keys.Name(i), "participant", what) {
				t.Errorf("no line of the log names %s", keys.Name(i))
			}
		})
	}
}

// TestHelpersThatAreNotThere: owners pay nothing for a sum that too few helpers take
// shares of, whatever the aggregator says of who is there.
func TestHelpersThatAreNotThere(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve() // for the owner's certificate alone
	ann := f.secretPlan(c, 3, wholly)
	const people = 40
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	main := f.identity(identity.Aggregator, "main")
	signed, err := ann.Sign(f.identity(identity.Operator, "anna"))
	must(t, err)
	id, err := ann.Task.Digest()
	must(t, err)
	assembled, err := core.New(ann.Task)
	must(t, err)
	roster := listKeys(f.list)
	must(t, assembled.Assemble(len(roster), ann.Leaned(len(roster), f.list.Len())))
	broadcast, err := assembled.Broadcast()
	must(t, err)
	secret, err := tasks.SecretSum(ann, broadcast, roster, helpertest.Meet(t.Context(), c.Clients(main)),
		time.Now().Add(secretsum.Keep))
	must(t, err)
	sum, err := secret.Sign(main)
	must(t, err)
	// One helper has begun the sum. The others are alive and know nothing of it.
	must(t, c.Clients(main)[0].Begin(t.Context(), sum,
		&secretsum.Admission{Announcement: signed.Text, Signature: signed.Signature, List: f.list}))
	p := &puppeteer{task: message(signed), list: f.list, broadcast: broadcast, sum: sum.Proto(), id: id,
		slots: uint32(ann.Task.Slots()), over: 5}
	_, calls := rpc.NewAggregatorHandler(p)
	server := httptest.NewUnstartedServer(calls)
	server.TLS, server.EnableHTTP2 = main.Server(), true
	server.StartTLS()
	defer server.Close()
	owners.Server = server.URL
	got, err := owners.Run(t.Context(), id)
	must(t, err)
	if got.Accepted != 0 || got.Missed != people {
		t.Errorf("%+v: want all missed", *got)
	}
	wantNothingGiven(t, owners.Book, id)
}

// TestALyingHelperIsNamed: one of three helpers answers every request with a sum of its
// choice, while an honest one is silent until the lie was told. The aggregator's log names
// the liar, and the model is that of the owners' shares.
func TestALyingHelperIsNamed(t *testing.T) {
	size.OnlyLong(t, "a sum over TLS; the helper's test of this name has the same lies")
	f := newFederation(t)
	log := new(heard)
	f.log = slog.New(slog.NewTextHandler(io.MultiWriter(testWriter{t}, log), nil))
	c := helpertest.New(t, f.log, f.authority, 3)
	until := make(chan struct{})
	c.Lie(1, 2, until, helpertest.AddOne(0, 1))
	f.serve()
	ann := f.secretPlan(c, 3, wholly)
	const people = 40
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	id := f.announce(ann)
	client := f.client(f.identity(identity.Reader, "r"))
	var clock sync.WaitGroup
	defer clock.Wait()
	clock.Go(func() { closeWhenFull(t, ann, people, []*federation{f}, owners.Book) })
	clock.Go(func() {
		defer close(until)
		for f.state(client, id).GetState() == rpc.State_STATE_OPEN &&
			!log.lineWith("deviated", "helper h1 has answered with another sum than that of its shares") {
			<-time.After(20 * time.Millisecond)
		}
	})
	got, err := owners.Run(t.Context(), id)
	must(t, err)
	if got.Accepted != people || !bytes.Equal(f.model(id), f.secretly(ann, people, owners.Book)) {
		t.Errorf("%+v: the model is not that of the owners' shares", *got)
	}
	if !log.lineWith("deviated", "helper h1 has answered") {
		t.Error("no line of the log names helper h1")
	}
}
