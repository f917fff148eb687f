// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

var server *ledgertest.Server

func TestMain(m *testing.M) {
	var err error
	var why string
	server, why, err = ledgertest.Postgres()
	if server == nil {
		fmt.Fprintln(os.Stderr, errors.Join(errors.New("aggregator: "+why), err))
	}
	code := m.Run()
	if server != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 { // after all these faults
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// TestNothingIsAcknowledgedBeforeTheDisk fills the disk. Uploads are refused with
// the problem that says so, nothing of them is stored, and once there is room the
// same ones are.
func TestNothingIsAcknowledgedBeforeTheDisk(t *testing.T) {
	f := newFederation(t)
	var faults sqldbtest.Faults
	f.open = func() *store.Store {
		c, err := sqldb.Connector(f.address, store.Options)
		must(t, err)
		db, err := sqldb.Connect(t.Context(), faults.Connector(c), false, store.Options)
		must(t, err)
		s, err := store.On(t.Context(), db)
		must(t, err)
		return s
	}
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) { a.Quiet = 0 })
	id := f.announce(ann)
	a := newAdversary(t, f, ann, id, 200)
	client := f.client(f.identity(identity.Owner, "clinic"))
	round, sent := a.crowd(client, 5)
	owner := a.fresh(0)
	one := a.sign(owner, a.honest(round, owner).Append(nil))
	for _, c := range []struct {
		name string
		fail func()
	}{
		{"disk full", func() { faults.FailAll(syscall.ENOSPC) }},
		{"failed sync", func() { faults.FailAll(syscall.EIO) }},
	} {
		c.fail()
		_, err := client.Upload(t.Context(),
			connect.NewRequest(&rpc.UploadRequest{TaskId: id[:], Reports: []*rpc.SignedReport{one}}))
		if kindOfNil(err) != problem.Storage {
			t.Errorf("%s: %v, want the storage problem", c.name, err)
		}
		faults.Mend()
		clean, err := store.At(t.Context(), f.address, "")
		must(t, err)
		if n, err := clean.Count(t.Context(), store.ID(id), 0); err != nil || n != len(sent) {
			t.Errorf("%s: %d reports stored, %v, want %d", c.name, n, err, len(sent))
		}
		must(t, clean.Close())
	}
	a.upload(client, append(sent, one), nil)
	if n := f.stored(client, id); n != len(sent)+1 {
		t.Errorf("%d reports stored, want %d", n, len(sent)+1)
	}
}

// TestOutagesAreNotQuiet keeps the store away, or the disk full, for longer than a
// slot's quiet time while owners wait. When it is back the slot is still open, as
// long as they need to come back, and takes what they send; then it closes. Until it
// is back the service is not ready.
func TestOutagesAreNotQuiet(t *testing.T) {
	size.OnlyLong(t, "several outages in real time; TestNothingIsAcknowledgedBeforeTheDisk has each fault")
	const quiet = 5
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
			f := newFederation(t)
			if f.address = address(); f.address == "" {
				t.Skip("no PostgreSQL server here")
			}
			var faults sqldbtest.Faults
			f.open = func() *store.Store {
				c, err := sqldb.Connector(f.address, store.Options)
				must(t, err)
				db, err := sqldb.Connect(t.Context(), faults.Connector(c), sqldb.IsPostgres(f.address), store.Options)
				must(t, err)
				s, err := store.On(t.Context(), db)
				must(t, err)
				return s
			}
			f.serve()
			ann := f.plan(func(a *tasks.Announcement) { a.Slot, a.Quiet = 9*time.Minute, quiet*time.Second })
			id := f.announce(ann)
			a := newAdversary(t, f, ann, id, 400)
			client := f.client(f.identity(identity.Owner, "clinic"))
			round, _ := a.crowd(client, 5)
			ready := func() int {
				w := httptest.NewRecorder()
				f.server.Page().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
				return w.Code
			}
			if got := ready(); got != http.StatusOK {
				t.Errorf("before: /readyz answers %d", got)
			}
			var waiting []*rpc.SignedReport
			for range 95 {
				owner := a.fresh(0)
				waiting = append(waiting, a.sign(owner, a.honest(round, owner).Append(nil)))
			}
			for _, outage := range []struct {
				name string
				fail func(error)
				send bool // while it is away
			}{{"away, nobody tries", faults.FailAll, false}, {"full, nobody tries", faults.FailWrites, false},
				{"full, owners try", faults.FailWrites, true}} {
				outage.fail(syscall.ENOSPC)
				if outage.send {
					_, err := client.Upload(t.Context(), connect.NewRequest(&rpc.UploadRequest{TaskId: id[:], Reports: waiting}))
					if kindOfNil(err) != problem.Storage {
						t.Errorf("%s: %v, want the storage problem", outage.name, err)
					}
				}
				if got := ready(); got != http.StatusServiceUnavailable {
					t.Errorf("%s: /readyz answers %d while nothing can be stored", outage.name, got)
				}
				f.pass(18)
				faults.Mend()
				f.pass(quiet + 3) // owners come back within five seconds
				if s := f.state(client, id); s.GetSlot() != 0 {
					t.Fatalf("%s: the slot was closed before they were back", outage.name)
				}
				if got := ready(); got != http.StatusOK {
					t.Errorf("%s: /readyz answers %d afterwards", outage.name, got)
				}
				a.upload(client, waiting[:30], nil)
				waiting = waiting[30:]
			}
			f.pass(quiet - 2)
			if s := f.state(client, id); s.GetSlot() != 0 {
				t.Error("the slot was closed before its quiet time was over")
			}
			f.pass(15)
			f.waitSlot(client, id, 1)
		})
	}
}

// TestNothingIsSentWithoutTheBook fills the disk of an owners' machine, or lets it
// fail, before they answer and when half of them have. Nothing is sent that is not
// in the book; once there is room again every owner has reported once, and paid
// once.
func TestNothingIsSentWithoutTheBook(t *testing.T) {
	// Of the three parts of the first slot's owners two are under way at once: the
	// third comes to the book when something has been sent.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for name, c := range map[string]struct {
		fault syscall.Errno
		after int32 // uploads
	}{"full from the start": {syscall.ENOSPC, 0}, "full in between": {syscall.ENOSPC, 1},
		"failed sync": {syscall.EIO, 1}} {
		t.Run(name, func(t *testing.T) {
			if name != "full in between" {
				size.OnlyLong(t, "the same fault at another moment")
			}
			f := newFederation(t)
			var faults sqldbtest.Faults
			var uploads atomic.Int32
			f.wrap = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(w, r)
					if r.URL.Path == rpc.AggregatorUploadProcedure && uploads.Add(1) == c.after {
						faults.FailAll(c.fault)
					}
				})
			}
			f.serve()
			const people = 3000
			ann := f.plan(func(a *tasks.Announcement) {
				a.Task.Rounds = a.Task.Rounds[:1]
				a.Quiet = 0
			})
			id := f.announce(ann)
			owners := f.owners(people, 1)
			owners.Cap = ann.Task.Epsilon
			connector, err := sqldb.Connector(filepath.Join(t.TempDir(), "book.db"), spending.Options)
			must(t, err)
			db, err := sqldb.Connect(t.Context(), faults.Connector(connector), false, spending.Options)
			must(t, err)
			owners.Book, err = spending.On(t.Context(), db, ann.Task.Epsilon) // enough for one report
			must(t, err)
			defer owners.Book.Close()
			_, err = owners.Book.Keys(t.Context(), people)
			must(t, err)
			if c.after == 0 {
				faults.FailAll(c.fault)
			}
			if _, err := owners.Run(t.Context(), id); !errors.Is(err, sqldb.ErrFailed) || !errors.Is(err, c.fault) {
				t.Fatalf("%v: want the disk's fault", err)
			}
			faults.Mend()
			client := f.client(f.identity(identity.Reader, "ben"))
			kept, err := owners.Book.For(t.Context(), id)
			must(t, err)
			written := len(kept)
			if n := f.stored(client, id); n > written || c.after > 0 && n == 0 || written == people {
				t.Errorf("%d reports are stored, %d in the book", n, written)
			}
			var clock sync.WaitGroup
			defer clock.Wait()
			clock.Go(func() { closeWhenFull(t, ann, people, []*federation{f}, owners.Book) })
			sum, err := owners.Run(t.Context(), id)
			must(t, err)
			if sum.Accepted != people {
				t.Errorf("%+v: want all accepted", *sum)
			}
			if !bytes.Equal(f.model(id), inProcess(t, ann.Task, people, owners.Book)) {
				t.Error("the model is not that of every owner's report, once")
			}
		})
	}
}

// TestBookBeforeTheWire looks into the owners' book when their reports arrive:
// all that has been sent is in it.
func TestBookBeforeTheWire(t *testing.T) {
	f := newFederation(t)
	var path string
	var arrived atomic.Int64
	f.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == rpc.AggregatorUploadProcedure {
				body, err := io.ReadAll(r.Body)
				var upload rpc.UploadRequest
				if err = errors.Join(err, proto.Unmarshal(body, &upload)); err != nil {
					t.Error(err)
				}
				b, err := spending.Open(context.Background(), path, 4*dp.Nano, "")
				if err != nil {
					t.Error(err)
					return
				}
				defer b.Close()
				keys, err := b.Keys(context.Background(), 600)
				if err != nil {
					t.Error(err)
				}
				number := map[string]int{}
				for i := range keys.Len() {
					number[keys.Name(i)] = i
				}
				given, err := b.For(context.Background(), wire.Digest(upload.GetTaskId()))
				if err != nil {
					t.Error(err)
				}
				for _, s := range upload.GetReports() {
					rep, err := wire.ParseReport(s.GetReport())
					if err != nil {
						t.Error(err)
						continue
					}
					if !bytes.Equal(given[number[rep.Owner]].Report, s.GetReport()) {
						t.Error("a report arrived that is not in its owner's book")
					}
					arrived.Add(1)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			next.ServeHTTP(w, r)
		})
	}
	f.serve()
	id := f.announce(f.plan(nil))
	owners := f.owners(600, 1)
	path = f.books[0]
	_, err := owners.Run(t.Context(), id)
	must(t, err)
	if arrived.Load() < 600 {
		t.Errorf("%d reports arrived", arrived.Load())
	}
}

// TestReplicasAgree lets two aggregators serve one store while half of the owners
// talk to each. The model is that of all reports, each counted once.
func TestReplicasAgree(t *testing.T) {
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
			one.serve()
			two.serve()
			const owners = 600
			ann := one.plan(func(a *tasks.Announcement) { a.Minimum, a.Quiet = 2, 0 })
			id := one.announce(ann)
			left, right := one.owners(owners, 1), two.owners(owners, 2)
			var wg sync.WaitGroup
			wg.Go(func() { closeWhenFull(t, ann, owners, []*federation{one, two}, left.Book, right.Book) })
			for i, half := range []owner.Params{left, right} {
				wg.Go(func() {
					// An error here ends the wait for the slots to be full.
					if s, err := half.Run(t.Context(), id); err != nil || s.Accepted != owners {
						t.Errorf("crowd %d: %+v, %v, want %d accepted", i, s, err, owners)
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
			if !bytes.Equal(got, inProcess(t, ann.Task, owners, left.Book, right.Book)) {
				t.Error("the model's bytes are not those of the same reports in one process")
			}
		})
	}
}

// TestThirdOfOwnersGone lets every third owner stay away in every slot, and
// others come when their slot is over.
func TestThirdOfOwnersGone(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) { a.Minimum, a.Quiet = 5, 0 })
	id := f.announce(ann)
	a := newAdversary(t, f, ann, id, 600)
	client := f.client(f.identity(identity.Owner, "clinic"))
	var kept [][]byte
	var late []*rpc.SignedReport
	for slot := range ann.Task.Slots() {
		round, sent := a.crowd(client, 0)
		for i, owner := range a.slots[slot] {
			s := a.sign(owner, a.honest(round, owner).Append(nil))
			if i%3 == 0 {
				late = append(late, s)
				continue
			}
			sent = append(sent, s)
			kept = append(kept, s.GetReport())
		}
		a.upload(client, sent, nil)
		f.ahead.Add(int64(slotTime))
		if slot+1 < ann.Task.Slots() {
			f.waitSlot(client, id, slot+1)
			a.upload(client, late[len(late)-3:], []problem.Kind{problem.Late, problem.Late, problem.Late})
		}
	}
	if !bytes.Equal(f.model(id), ofReports(t, ann.Task, kept)) {
		t.Error("the model's bytes are not those of the reports that came in time")
	}
}

// TestClocksApart sets the aggregator's clock and the owners' an hour forth and
// back, within the task's time and beyond it.
func TestClocksApart(t *testing.T) {
	for _, apart := range []time.Duration{-time.Hour, 0, time.Hour} {
		if apart != 0 && !size.Long() {
			continue
		}
		for _, theirs := range []time.Duration{-time.Hour, time.Hour} {
			f := newFederation(t)
			f.ahead.Store(int64(apart))
			f.serve()
			ann := f.plan(func(a *tasks.Announcement) {
				a.Task.Rounds = a.Task.Rounds[:1]
				a.Ends = time.Now().Add(3 * time.Hour).Truncate(time.Second)
			})
			id := f.announce(ann)
			owners := f.owners(500, 1)
			owners.Now = func() time.Time { return time.Now().Add(theirs) }
			sum, err := owners.Run(t.Context(), id)
			must(t, err)
			if sum.Accepted != 500 || !bytes.Equal(f.model(id), inProcess(t, ann.Task, 500, owners.Book)) {
				t.Errorf("aggregator %s, owners %s: %+v", apart, theirs, *sum)
			}
			late := f.owners(500, 2)
			late.Now = func() time.Time { return time.Now().Add(3*time.Hour + time.Minute) }
			if _, err := late.Run(t.Context(), id); err == nil {
				t.Error("an owner whose clock is past the task's end took part")
			}
		}
	}
}

// TestClockJumps sets the aggregator's clock forth and back while a slot is open:
// forth closes it, back reopens nothing.
func TestClockJumps(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) {
		a.Minimum, a.Quiet, a.Ends = 5, 0, time.Now().Add(5*time.Hour).Truncate(time.Second)
	})
	id := f.announce(ann)
	a := newAdversary(t, f, ann, id, 1000) // one in 20 is in slot 1
	client := f.client(f.identity(identity.Owner, "clinic"))
	_, sent := a.crowd(client, 5)
	f.ahead.Store(int64(time.Hour))
	f.waitSlot(client, id, 1)
	f.ahead.Store(-int64(time.Hour))
	a.upload(client, sent, nil)
	a.crowd(client, 5)
	if s := f.state(client, id); s.GetSlot() != 1 || s.GetReports() != 5 {
		t.Errorf("the task is at slot %d with %d reports, want 1 with 5", s.GetSlot(), s.GetReports())
	}
}
