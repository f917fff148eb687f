// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/model"
	owning "github.com/discreet-dp/discreet/internal/net/federated/answer"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/net/testkit/nettest"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// secretPlan makes an announcement in mode aggregate, for a committee.
func (f *federation) secretPlan(c *helpertest.Committee, helpers int,
	change func(*tasks.Announcement)) *tasks.Announcement {
	f.t.Helper()
	f.mode = wire.Aggregate
	task, err := core.Plan(core.Params{Schema: census.Schema(), Mode: wire.Aggregate, Classifier: wire.Stump,
		Epsilon: 2 * dp.Nano, Owners: 60, Rounds: 1, Nonce: strings.Repeat("cd", 16)})
	must(f.t, err)
	return f.plan(func(a *tasks.Announcement) {
		a.Task, a.Minimum = task, 2
		f.enlist(a, 60, f.crowd(a, 60, 99).Book)
		for h := range helpers {
			a.Helpers = append(a.Helpers, tasks.Helper{Name: c.Name(h), Address: c.Address(h)})
		}
		if change != nil {
			change(a)
		}
	})
}

// enlist makes the owners of some books the task's list, all of whom but one must be
// honest.
func (f *federation) enlist(ann *tasks.Announcement, owners int, books ...*spending.Book) {
	f.t.Helper()
	var text []byte
	for _, b := range books {
		keys, err := b.Keys(f.t.Context(), owners)
		must(f.t, err)
		for i := range owners {
			text = append(text, keys.Name(i)+"\n"...)
		}
	}
	var err error
	f.list, err = tasks.ParseRoster(text)
	must(f.t, err)
	ann.Roster, ann.Honest = f.list.Digest(), f.list.Len()-1
}

// crowd is owners of whom every slot of the task has some: keys are random, and with
// them who is placed where.
func (f *federation) crowd(ann *tasks.Announcement, n int, seed uint64) owner.Params {
	f.t.Helper()
	placing, err := ann.Task.Placing()
	must(f.t, err)
	for {
		p := f.owners(n, seed)
		keys, err := p.Book.Keys(f.t.Context(), n)
		must(f.t, err)
		in := make([]int, ann.Task.Slots())
		for i := range n {
			in[placing.Of(keys.Name(i)).Slot]++
		}
		if slices.Min(in) >= ann.Minimum {
			return p
		}
	}
}

// secretly is the model that the shares in owners' books make without a network:
// the same state machines in one process.
func (f *federation) secretly(ann *tasks.Announcement, owners int, books ...*spending.Book) []byte {
	t := f.t
	t.Helper()
	id, err := ann.Task.Digest()
	must(t, err)
	s := f.open()
	defer s.Close()
	c, err := core.New(ann.Task)
	must(t, err)
	for slot := range ann.Task.Slots() {
		x, err := s.Secret(t.Context(), store.ID(id), slot)
		must(t, err)
		secret, err := secretsum.Parse(x.Sum)
		must(t, err)
		sumID, err := secret.ID()
		must(t, err)
		var shares [][]byte
		for _, b := range books {
			given, err := b.For(t.Context(), id)
			must(t, err)
			for i := range owners {
				e, found := given[i]
				if !found || e.Round != sumID {
					continue
				}
				some, err := secretsum.Unpack(e.Report)
				must(t, err)
				shares = append(shares, some...)
			}
		}
		total, in, err := helpertest.Play(secret, shares)
		must(t, err)
		must(t, c.Assemble(len(secret.Roster), ann.Leaned(len(secret.Roster), f.list.Len())))
		must(t, c.ReceiveSum(total, len(in)))
		must(t, c.Close())
	}
	m, err := c.Model(core.Statement{})
	must(t, err)
	file, err := model.Marshal(m)
	must(t, err)
	return file
}

// wholly is secretPlan with slots that close by the test's clock alone.
func wholly(a *tasks.Announcement) {
	a.Quiet, a.Ends = 0, time.Now().Add(24*time.Hour).Truncate(time.Second)
}

// TestSecretSumsOverTheNetwork trains in mode aggregate, over mutual TLS between
// all parties. The bytes of the model are those that the owners' shares make in
// one process, and those of a simulation that draws each owner's addend from the
// same replayed source. Each owner has paid once.
func TestSecretSumsOverTheNetwork(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	ann := f.secretPlan(c, 3, wholly)
	const people = 60
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	id := f.announce(ann)
	source := func(part int) rng.Source { return replay.Seeded(5, fmt.Sprint(part)) }
	owners.Source = source
	var clock sync.WaitGroup
	defer clock.Wait()
	clock.Go(func() { closeWhenFull(t, ann, people, []*federation{f}, owners.Book) })
	got, err := owners.Run(t.Context(), id)
	must(t, err)
	if got.Owners != people || got.Accepted != people {
		t.Errorf("got %+v, want all accepted", *got)
	}
	file := f.model(id)
	if !bytes.Equal(file, f.secretly(ann, people, owners.Book)) {
		t.Error("the model's bytes are not those of the same shares in one process")
	}
	if !bytes.Equal(file, f.simulated(ann, owners, source)) {
		t.Error("the model's bytes are not those of a simulation with the same randomness")
	}
	if told, want := f.toldOwners(), ownersOf(t, ann, owners, people); !slices.Equal(told, want) {
		t.Errorf("the page tells %v owners of the rounds, want %v: each once", told, want)
	}
	db, err := sqldb.Open(t.Context(), f.books[len(f.books)-1], spending.Options)
	must(t, err)
	defer db.Close()
	must(t, db.View(t.Context(), func(tx *sqldb.Tx) error {
		var n, spent int64
		if _, err := tx.Find([]any{&n, &spent}, `SELECT COUNT(DISTINCT owner), SUM(epsilon) FROM discreet_given`); err !=
			nil {
			return err
		}
		if n != people || spent != people*int64(ann.Task.Epsilon) {
			t.Errorf("%d owners have spent %d, want %d at the task's epsilon", n, spent, people)
		}
		return nil
	}))
}

// toldOwners is how many owners of each round the page tells, once the task is done.
func (f *federation) toldOwners() (told []int) {
	for {
		w := httptest.NewRecorder()
		f.server.Page().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		_, after, done := strings.Cut(w.Body.String(), `class="state">done`)
		if !done {
			<-time.After(20 * time.Millisecond)
			continue
		}
		for _, row := range regexp.MustCompile(`<tr><td>\d+</td><td>(\d+)</td>`).FindAllStringSubmatch(after, -1) {
			n, err := strconv.Atoi(row[1])
			must(f.t, err)
			told = append(told, n)
		}
		return told
	}
}

// ownersOf is how many owners are placed in each round.
func ownersOf(t *testing.T, ann *tasks.Announcement, p owner.Params, people int) []int {
	t.Helper()
	placing, err := ann.Task.Placing()
	must(t, err)
	keys, err := p.Book.Keys(t.Context(), people)
	must(t, err)
	of := make([]int, ann.Task.Slots()/2)
	for i := range people {
		of[placing.Of(keys.Name(i)).Slot/2]++
	}
	return of
}

// simulated plays the task in one process, in clear.
func (f *federation) simulated(ann *tasks.Announcement, p owner.Params, source func(int) rng.Source) []byte {
	t := f.t
	t.Helper()
	keys, err := p.Book.Keys(t.Context(), p.Owners)
	must(t, err)
	agg, err := core.New(ann.Task)
	must(t, err)
	terms, err := owning.Accept(agg.Task(), owning.Caps{Epsilon: ann.Task.Epsilon})
	must(t, err)
	tab, err := p.Read(ann.Task.Schema)
	must(t, err)
	recs, err := terms.Bind(tab)
	must(t, err)
	owners, err := owning.NewOwners(recs, p.Owners, keys.Name, forgetful{})
	must(t, err)
	for slot := range ann.Task.Slots() {
		var in []int32
		for i := range p.Owners {
			if owners.Place(i).Slot == slot {
				in = append(in, int32(i))
			}
		}
		must(t, agg.Assemble(len(in), ann.Leaned(len(in), f.list.Len())))
		text, err := agg.Broadcast()
		must(t, err)
		round, err := terms.Read(text)
		must(t, err)
		exit := mech.NewExit(source(slot + 1)) // one part to a slot
		var total []uint64
		_, err = round.Reporter(owners).Share(t.Context(), [32]byte{}, in, exit,
			func(_ int, addend []uint64) ([]byte, error) {
				if total == nil {
					total = make([]uint64, len(addend))
				}
				for j, x := range addend {
					total[j] += x
				}
				return nil, nil
			})
		must(t, err)
		must(t, agg.ReceiveSum(total, len(in)))
		must(t, agg.Close())
	}
	m, err := agg.Model(core.Statement{})
	must(t, err)
	file, err := model.Marshal(m)
	must(t, err)
	return file
}

// TestSecretProcessesDie stops the aggregator, helpers and the owners' machine
// again and again. Nothing is lost, nothing is counted twice, and the model is
// that of every owner's shares.
func TestSecretProcessesDie(t *testing.T) {
	size.OnlyLong(t, "stops everything in a loop; TestHelpersDie and TestCollectorDies stop each part")
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	front := newFront(t, f, nettest.Faults{})
	ann := f.secretPlan(c, 3, wholly)
	const people = 80
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	id := f.announce(ann)
	owners.Server = front.url
	var working sync.WaitGroup
	defer working.Wait()
	working.Go(func() { closeWhenFull(t, ann, people, []*federation{f}, owners.Book) })
	working.Go(func() { // helpers
		r := rand.New(rand.NewPCG(3, 4))
		for range 20 {
			h := r.IntN(3)
			c.Kill(h)
			c.Start(h)
			<-time.After(time.Duration(50+r.IntN(200)) * time.Millisecond)
		}
	})
	done := make(chan struct{})
	working.Go(func() { // owners: each life ends somewhere
		defer close(done)
		for life := 200 * time.Millisecond; ; life += 200 * time.Millisecond {
			ctx, cancel := context.WithTimeout(t.Context(), life)
			_, err := owners.Run(ctx, id)
			cancel()
			if err == nil {
				return
			}
		}
	})
	for range 6 { // the aggregator
		select {
		case <-done:
		case <-time.After(500 * time.Millisecond):
			front.swap(f)
		}
	}
	<-done
	if got := f.model(id); !bytes.Equal(got, f.secretly(ann, people, owners.Book)) {
		t.Error("the model is not that of every owner's shares, once")
	}
}

// standing is how far a task is and what its owners are told.
func (f *federation) standing(client rpc.AggregatorClient, id wire.Digest) *rpc.GetRoundResponse {
	f.t.Helper()
	r, err := client.GetRound(f.t.Context(), connect.NewRequest(&rpc.GetRoundRequest{TaskId: id[:]}))
	must(f.t, err)
	return r.Msg
}

// TestThirdOfSecretOwnersGone loses owners after they have said that they take
// part. Up to a third may go: the sum is that of the others, exactly. Beyond that
// the task ends, and nothing is opened.
func TestThirdOfSecretOwnersGone(t *testing.T) {
	size.OnlyLong(t, "waits for those who are gone; TestThirdOfParticipantsGone has the helpers' side")
	for _, gone := range []int{10, 11} { // of 31
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			f := newFederation(t)
			c := helpertest.New(t, f.log, f.authority, 3)
			f.serve()
			ann := f.secretPlan(c, 3, wholly)
			const people = 60
			here, away := f.owners(people, 1), f.owners(people, 2)
			f.enlist(ann, people, here.Book, away.Book)
			id := f.announce(ann)
			// Who is away says that it takes part, as an owner whose machine dies then.
			client := f.client(f.identity(identity.Owner, "away"))
			placing, err := ann.Task.Placing()
			must(t, err)
			var present int
			keys, err := here.Book.Keys(t.Context(), people)
			must(t, err)
			for i := range people {
				if placing.Of(keys.Name(i)).Slot == 0 {
					present++
				}
			}
			keys, err = away.Book.Keys(t.Context(), people)
			must(t, err)
			upload := &rpc.UploadRequest{TaskId: id[:]}
			for i := 0; len(upload.Reports) < present*gone/(31-gone); i++ {
				if name := keys.Name(i); placing.Of(name).Slot == 0 {
					b := (&wire.Report{Task: id, Owner: name}).Append(nil)
					upload.Reports = append(upload.Reports,
						&rpc.SignedReport{Report: b, Signature: ed25519.Sign(keys.At(i), tasks.Signable(b))})
				}
			}
			r, err := client.Upload(t.Context(), connect.NewRequest(upload))
			must(t, err)
			if len(r.Msg.GetRefusals()) > 0 {
				t.Fatal(r.Msg)
			}
			joined := present + len(upload.Reports)
			enough := present >= wire.AtLeastOf(joined)
			if enough != (gone == 10) {
				t.Fatalf("%d of %d are there", present, joined)
			}
			done := make(chan error, 1)
			go func() {
				_, err := here.Run(t.Context(), id)
				done <- err
			}()
			for f.stored(client, id) < joined {
				<-time.After(20 * time.Millisecond)
			}
			f.ahead.Add(int64(ann.Slot)) // the roster is fixed
			for _, h := range c.Clients(f.identity(identity.Aggregator, "main")) {
				for n := 0; n < present; { // all who are here have given their shares
					<-time.After(20 * time.Millisecond)
					secret := f.standing(client, id).GetSum()
					if secret == nil {
						continue
					}
					var err error
					n, _, err = h.Progress(t.Context(), sha256.Sum256(secret.GetSum()))
					if err != nil && kindOf(err) != problem.UnknownTask { // it was not begun there yet
						t.Fatal(err)
					}
				}
			}
			if enough {
				f.endSlot(client, id, 0, ann.Slot) // no one waits for the others any more
				x, err := store.At(t.Context(), f.address, "")
				must(t, err)
				defer x.Close()
				secret, err := x.Secret(t.Context(), store.ID(id), 0)
				must(t, err)
				if secret.Participants != present {
					t.Errorf("the sum is of %d owners, want %d", secret.Participants, present)
				}
				_, err = f.client(f.identity(identity.Operator, "anna")).CloseTask(t.Context(),
					connect.NewRequest(&rpc.CloseTaskRequest{TaskId: id[:]}))
				must(t, err)
			} else {
				f.ahead.Add(int64(ann.Slot)) // no one waits for the others any more
				for f.state(client, id).GetState() == rpc.State_STATE_OPEN {
					<-time.After(20 * time.Millisecond)
				}
				if s := f.state(client, id); s.GetState() != rpc.State_STATE_CLOSED || s.GetSlot() != 0 {
					t.Errorf("the task is %v in slot %d, want ended in the first", s.GetState(), s.GetSlot())
				}
			}
			must(t, <-done)
			f.stop()
		})
	}
}

// TestHelpersGoneForGood loses helpers before the task begins: of three, the sum
// does without one, and does not happen without two.
func TestHelpersGoneForGood(t *testing.T) {
	size.OnlyLong(t, "waits for those who are gone; TestHelperLost and TestTooFewHelpers have the helpers' side")
	for gone := 1; gone <= 2; gone++ {
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			f := newFederation(t)
			c := helpertest.New(t, f.log, f.authority, 3)
			f.serve()
			for h := range gone {
				c.Kill(h)
			}
			ann := f.secretPlan(c, 3, wholly)
			const people = 40
			owners := f.crowd(ann, people, 1)
			f.enlist(ann, people, owners.Book)
			id := f.announce(ann)
			var clock sync.WaitGroup
			client := f.client(f.identity(identity.Reader, "r"))
			clock.Go(func() {
				if gone == 1 {
					closeWhenFull(t, ann, people, []*federation{f}, owners.Book)
					return
				}
				for f.stored(client, id) < ann.Minimum {
					<-time.After(20 * time.Millisecond)
				}
				f.ahead.Add(int64(3*ann.Slot + time.Second)) // joining, sharing, opening
			})
			got, err := owners.Run(t.Context(), id)
			must(t, err)
			clock.Wait()
			if gone == 1 {
				if got.Accepted != people || !bytes.Equal(f.model(id), f.secretly(ann, people, owners.Book)) {
					t.Errorf("%+v: want the model of all", *got)
				}
				return
			}
			if s := f.state(client, id); s.GetState() != rpc.State_STATE_CLOSED {
				t.Errorf("the task is %v, want it ended", s.GetState())
			}
			if got.Accepted != 0 {
				t.Errorf("%+v: nobody's shares are worth anything", *got)
			}
			f.stop()
		})
	}
}

// TestSecretSumsOverABadNetwork puts a network between everyone and everyone that
// delays, slices and cuts. Nothing is lost or counted twice.
func TestSecretSumsOverABadNetwork(t *testing.T) {
	size.OnlyLong(t, "waits for a slow network; TestSecretSumsOverTheNetwork has a good one, and TestEveryCallMayFail loses calls")
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	faults := nettest.Faults{Slice: 4000, Late: 1500 * time.Microsecond, Cut: 1, Pieces: 12, Cuts: 5}
	var nets []*nettest.Network
	ann := f.secretPlan(c, 3, func(a *tasks.Announcement) {
		wholly(a)
		for h := range a.Helpers {
			n, err := nettest.New(func() string { return strings.TrimPrefix(c.Address(h), "https://") }, uint64(h), faults)
			must(t, err)
			t.Cleanup(func() { must(t, n.Close()) })
			nets = append(nets, n)
			a.Helpers[h].Address = "https://" + n.Address()
		}
	})
	const people = 60
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	id := f.announce(ann)
	owners.Server = newFront(t, f, faults).url
	var clock sync.WaitGroup
	defer clock.Wait()
	clock.Go(func() { closeWhenFull(t, ann, people, []*federation{f}, owners.Book) })
	got, err := owners.Run(t.Context(), id)
	must(t, err)
	if got.Accepted != people {
		t.Errorf("%+v: want all accepted", *got)
	}
	if !bytes.Equal(f.model(id), f.secretly(ann, people, owners.Book)) {
		t.Error("the model is not that of every owner's shares, once")
	}
	for h, n := range nets {
		if n.Cuts() == 0 {
			t.Errorf("helper %d: no connection was cut", h)
		}
	}
}

// TestSecretReplicasAgree lets two processes serve one store, both of whom see each
// sum through. Owners are shown one roster, one sum is opened, and both processes
// have the model that it makes.
func TestSecretReplicasAgree(t *testing.T) {
	size.OnlyLong(t, "two of everything; TestReplicasAgree has two processes on one store")
	for kind, address := range map[string]func() string{
		"sqlite": func() string { return filepath.Join(t.TempDir(), "state.db") },
		"postgres": func() string {
			if server == nil {
				return ""
			}
			return server.Database(t)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			one, two := newFederation(t), newFederation(t)
			if one.address = address(); one.address == "" {
				t.Skip("no PostgreSQL server here")
			}
			two.address, two.authority = one.address, one.authority
			c := helpertest.New(t, one.log, one.authority, 3)
			one.serve()
			two.serve()
			const people = 40
			ann := one.secretPlan(c, 3, wholly)
			two.mode = one.mode
			left, right := one.crowd(ann, people, 1), two.crowd(ann, people, 2)
			one.enlist(ann, people, left.Book, right.Book)
			id := one.announce(ann)
			var wg sync.WaitGroup
			wg.Go(func() { closeWhenFull(t, ann, people, []*federation{one, two}, left.Book, right.Book) })
			for i, half := range []owner.Params{left, right} {
				wg.Go(func() {
					// An error here ends the wait for the slots to be full.
					if s, err := half.Run(t.Context(), id); err != nil || s.Accepted != people {
						t.Errorf("crowd %d: %+v, %v, want %d accepted", i, s, err, people)
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				return
			}
			got := one.model(id)
			if !bytes.Equal(got, two.model(id)) {
				t.Error("the two give different models")
			}
			if !bytes.Equal(got, one.secretly(ann, people, left.Book, right.Book)) {
				t.Error("the model's bytes are not those of the same shares in one process")
			}
		})
	}
}

// TestBrokeOwnersDoNotTakePart: who cannot pay says nothing at all, for others would
// count on its share.
func TestBrokeOwnersDoNotTakePart(t *testing.T) {
	size.OnlyLong(t, "the same calls as with owners who can pay, and more of them")
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	ann := f.secretPlan(c, 3, wholly)
	const people, broke = 200, 20
	owners := f.crowd(ann, people, 1)
	f.enlist(ann, people, owners.Book)
	id := f.announce(ann)
	keys, err := owners.Book.Keys(t.Context(), people)
	must(t, err)
	placing, err := ann.Task.Placing()
	must(t, err)
	want := make([]int, ann.Task.Slots())
	var spent []owning.Given
	for i := range people {
		if i < broke {
			spent = append(spent, owning.Given{Owner: i, Task: wire.Digest{1}, Cost: 3 * dp.Nano,
				Entry: owning.Entry{Report: []byte("all")}})
		} else {
			want[placing.Of(keys.Name(i)).Slot]++
		}
	}
	must(t, owners.Book.Commit(t.Context(), spent))
	reader := f.client(f.identity(identity.Reader, "r"))
	var clock sync.WaitGroup
	defer clock.Wait()
	clock.Go(func() {
		for slot, n := range want {
			f.waitSlot(reader, id, slot)
			for f.stored(reader, id) < n {
				<-time.After(20 * time.Millisecond)
			}
			f.ahead.Add(int64(ann.Slot))
		}
	})
	got, err := owners.Run(t.Context(), id)
	must(t, err)
	if got.Accepted != people-broke || got.Silent != broke {
		t.Errorf("%+v: want %d silent, the others accepted", *got, broke)
	}
	if !bytes.Equal(f.model(id), f.secretly(ann, people, owners.Book)) {
		t.Error("the model is not that of the shares of those who could pay")
	}
}

// TestModeIsAgreedTo: an owner who has agreed to reports gives no shares, and the
// other way round. What it is promised differs.
func TestModeIsAgreedTo(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	secret := f.announce(f.secretPlan(c, 3, nil))
	open := f.announce(f.plan(nil))
	for mode, id := range map[wire.Mode]wire.Digest{wire.Local: secret, "": secret, wire.Aggregate: open} {
		owners := f.owners(60, 1)
		owners.Mode = mode
		var refused *dp.ParamError
		if _, err := owners.Run(t.Context(), id); !errors.As(err, &refused) || refused.Param != "mode" {
			t.Errorf("mode %q: %v, want a refusal", mode, err)
		}
	}
}

// TestNumbersAreNotTaken sends the aggregator what it must not see.
func TestNumbersAreNotTaken(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	ann := f.secretPlan(c, 3, wholly)
	owners := f.crowd(ann, 60, 1)
	f.enlist(ann, 60, owners.Book)
	id := f.announce(ann)
	keys, err := owners.Book.Keys(t.Context(), 60)
	must(t, err)
	placing, err := ann.Task.Placing()
	must(t, err)
	client := f.client(owners.Self)
	for i := range 60 {
		place := placing.Of(keys.Name(i))
		for _, x := range []struct {
			report wire.Report
			want   problem.Kind
		}{
			{wire.Report{Words: []uint32{1}}, problem.OutOfRange},
			{wire.Report{Ask: 1}, problem.OutOfRange},
			{wire.Report{}, problem.Kind{}},
			{wire.Report{}, problem.Kind{}},
		} {
			x.report.Task, x.report.Owner, x.report.Slot = id, keys.Name(i), place.Slot
			b := x.report.Append(nil)
			r, err := client.Upload(t.Context(),
				connect.NewRequest(&rpc.UploadRequest{TaskId: id[:],
					Reports: []*rpc.SignedReport{{Report: b, Signature: ed25519.Sign(keys.At(i), tasks.Signable(b))}}}))
			must(t, err)
			got := problem.Kind{}
			for _, refusal := range r.Msg.GetRefusals() {
				got = problem.FromProto(refusal.GetProblem()).Kind
			}
			if place.Slot != 0 {
				x.want = problem.Early
			}
			if got != x.want {
				t.Errorf("%d words, ask %d, slot %d: %v, want %v", len(x.report.Words), x.report.Ask, place.Slot, got.Title(),
					x.want.Title())
			}
		}
	}
}
