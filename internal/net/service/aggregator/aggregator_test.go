// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/net/testkit/nettest"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// federation is an authority, a store and what serves it now.
type federation struct {
	t         *testing.T
	authority *identity.Authority
	address   string
	log       *slog.Logger
	stop      func() // the process that serves, as by kill -9 once it was answered
	server    *aggregator.Server
	http      *httptest.Server
	open      func() *store.Store
	change    func(*aggregator.Params)        // of what its operator decides; nil: nothing
	wrap      func(http.Handler) http.Handler // around what the aggregator serves; nil: nothing
	mode      wire.Mode                       // that owners take part in
	list      tasks.Roster                    // of the task in mode aggregate that was planned last
	books     []string                        // of owners
	began     time.Time
	ahead     atomic.Int64 // how far the aggregator's clock has gone since
	passed    atomic.Int64 // likewise of the watch that quiet time goes by, which runs by itself
}

// now is the aggregator's clock. It stands until the test sets it forward: no one
// is late because a machine is slow.
func (f *federation) now() time.Time { return f.began.Add(time.Duration(f.ahead.Load())) }

// slotTime is how long slots are by that clock: short, for owners ask again in a
// part of that.
const slotTime = 20 * time.Second

func (f *federation) watch() time.Time { return time.Now().Add(time.Duration(f.passed.Load())) }

// pass lets seconds of quiet time pass, each once the aggregator has looked at its
// watch.
func (f *federation) pass(seconds int) {
	for range seconds {
		f.passed.Add(int64(time.Second))
		for at := f.watch(); f.server.LookedAt().Before(at); {
			<-time.After(5 * time.Millisecond)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newFederation(t *testing.T) *federation {
	t.Helper()
	a, err := identity.NewAuthority(time.Now(), 48*time.Hour)
	must(t, err)
	f := &federation{t: t, authority: a, began: time.Now(), address: filepath.Join(t.TempDir(), "state.db"),
		log: slog.New(slog.NewTextHandler(testWriter{t}, nil))}
	f.open = func() *store.Store {
		s, err := store.At(context.Background(), f.address, "")
		must(t, err)
		return s
	}
	t.Cleanup(func() {
		if f.stop != nil {
			f.stop()
		}
	})
	return f
}

// testWriter sends a log to the test's own.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSuffix(string(b), "\n"))
	}
	return len(b), nil
}

func (f *federation) identity(role identity.Role, name string) *identity.Identity {
	f.t.Helper()
	id, err := f.authority.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1"}, time.Now(), 36*time.Hour)
	must(f.t, err)
	return id
}

// serve starts a process on the store; one that serves already stops first.
func (f *federation) serve() {
	f.t.Helper()
	if f.stop != nil {
		f.stop()
	}
	s := f.open()
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	params := aggregator.Params{Self: f.identity(identity.Aggregator, "main"), Store: s, MaxEpsilon: 4 * dp.Nano,
		Log: f.log, Now: f.now}
	if f.change != nil {
		f.change(&params)
	}
	f.server, err = aggregator.New(ctx, params)
	must(f.t, err)
	f.server.SetWatch(f.watch)
	var wg sync.WaitGroup
	wg.Go(func() { f.server.Run(ctx) })
	handler := f.server.Handler()
	if f.wrap != nil {
		handler = f.wrap(handler)
	}
	f.http = httptest.NewUnstartedServer(handler)
	f.http.TLS = f.server.Self.Server()
	f.http.EnableHTTP2 = true
	f.http.StartTLS()
	f.stop = func() {
		f.http.CloseClientConnections()
		cancel()
		wg.Wait()
		f.http.Close()
		must(f.t, s.Close())
		f.stop = nil
	}
}

func (f *federation) client(id *identity.Identity, options ...connect.ClientOption) rpc.AggregatorClient {
	return rpc.NewAggregatorClient(
		&http.Client{Transport: &http.Transport{TLSClientConfig: id.Client(identity.Aggregator), ForceAttemptHTTP2: true}},
		f.http.URL, options...)
}

// plan makes an announcement about census-like people. Owners who are few report in
// one request, and that in one transaction: the quiet time shuts none of them out.
func (f *federation) plan(change func(*tasks.Announcement)) *tasks.Announcement {
	f.t.Helper()
	task, err := core.Plan(core.Params{Schema: census.Schema(), Classifier: wire.Stump, Epsilon: 2 * dp.Nano, Owners: 600,
		Rounds: 2, Nonce: strings.Repeat("ab", 16)})
	must(f.t, err)
	a := &tasks.Announcement{Task: task, Minimum: 2, Slot: slotTime, Quiet: 300 * time.Millisecond,
		Ends: time.Now().Add(10 * time.Minute).Truncate(time.Second)}
	if change != nil {
		change(a)
	}
	return a
}

// announce signs it as an operator and creates the task, with the list of owners
// that it names.
func (f *federation) announce(a *tasks.Announcement, roster ...tasks.Roster) wire.Digest {
	f.t.Helper()
	operator := f.identity(identity.Operator, "anna")
	signed, err := a.Sign(operator)
	must(f.t, err)
	if len(roster) == 0 && a.Task.Mode == wire.Aggregate {
		roster = append(roster, f.list)
	}
	r, err := f.client(operator).CreateTask(f.t.Context(),
		connect.NewRequest(&rpc.CreateTaskRequest{Task: message(signed), Roster: slices.Concat(roster...)}))
	must(f.t, err)
	return wire.Digest(r.Msg.GetTaskId())
}

func message(s tasks.Signed) *rpc.SignedTask {
	return &rpc.SignedTask{Announcement: s.Text, Certificate: s.Signature.Certificate, Signature: s.Signature.Value}
}

func (f *federation) owners(n int, seed uint64) owner.Params {
	f.t.Helper()
	path := filepath.Join(f.t.TempDir(), "book.db")
	f.books = append(f.books, path)
	b, err := spending.Open(f.t.Context(), path, 4*dp.Nano, "")
	must(f.t, err)
	f.t.Cleanup(func() { b.Close() })
	return owner.Params{
		Self: f.identity(identity.Owner, "clinic"), Server: f.http.URL, Book: b, Owners: n, Cap: 2 * dp.Nano, Mode: f.mode,
		Honest: tasks.MaxRoster, Log: f.log,
		Read: func(*schema.Schema) (*dataset.Table, error) { return censustest.Table(seed, n), nil },
	}
}

// state is how far a task is.
func (f *federation) state(client rpc.AggregatorClient, id wire.Digest) *rpc.TaskState {
	f.t.Helper()
	r, err := client.GetRound(f.t.Context(), connect.NewRequest(&rpc.GetRoundRequest{TaskId: id[:]}))
	must(f.t, err)
	return r.Msg.GetState()
}

// waitSlot waits until the slot is open.
func (f *federation) waitSlot(client rpc.AggregatorClient, id wire.Digest, slot int) {
	f.t.Helper()
	for s := f.state(client, id); s.GetSlot() != uint32(slot); s = f.state(client, id) {
		if s.GetState() != rpc.State_STATE_OPEN {
			f.t.Fatalf("the task ended before slot %d", slot)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// endSlot turns the clock in small steps until the slot has ended. The aggregator may
// end it by itself at any moment, and the next one must then have its time.
func (f *federation) endSlot(client rpc.AggregatorClient, id wire.Digest, slot int, length time.Duration) {
	f.t.Helper()
	for s := f.state(client, id); s.GetSlot() == uint32(slot); s = f.state(client, id) {
		f.ahead.Add(int64(length / 20))
		<-time.After(20 * time.Millisecond)
	}
	f.waitSlot(client, id, slot+1)
}

// stored is how many reports of the open slot are in the store.
func (f *federation) stored(client rpc.AggregatorClient, id wire.Digest) int {
	f.t.Helper()
	s := f.state(client, id)
	if s.GetState() != rpc.State_STATE_OPEN {
		f.t.Fatalf("the task ended, in slot %d", s.GetSlot())
	}
	return int(s.GetReports())
}

func (f *federation) model(id wire.Digest) []byte {
	f.t.Helper()
	reader := f.client(f.identity(identity.Reader, "r"))
	for {
		r, err := reader.GetModel(f.t.Context(), connect.NewRequest(&rpc.GetModelRequest{TaskId: id[:]}))
		must(f.t, err)
		if len(r.Msg.GetModel()) > 0 {
			return r.Msg.GetModel()
		}
		<-time.After(50 * time.Millisecond)
	}
}

// closeWhenFull closes each slot, by the clocks of those that serve, once all of
// the books' owners have reported: no slot closes because a machine was slow. It
// returns when the task is over; the announcement's Quiet must be 0.
func closeWhenFull(t *testing.T, ann *tasks.Announcement, owners int, serving []*federation, books ...*spending.Book) {
	t.Helper()
	id, err := ann.Task.Digest()
	must(t, err)
	placing, err := ann.Task.Placing()
	must(t, err)
	want := make([]int, ann.Task.Slots())
	for _, b := range books {
		keys, err := b.Keys(t.Context(), owners)
		must(t, err)
		for i := range owners {
			want[placing.Of(keys.Name(i)).Slot]++
		}
	}
	s, err := store.At(t.Context(), serving[0].address, "")
	must(t, err)
	defer s.Close()
	for slot, n := range want {
		for {
			have, err := s.Count(t.Context(), store.ID(id), slot)
			must(t, err)
			if have == n {
				break
			}
			if t.Failed() { // no one will report
				return
			}
			<-time.After(20 * time.Millisecond)
		}
		for _, f := range serving {
			f.ahead.Add(int64(ann.Slot))
		}
	}
}

// inProcess is the model that the reports in books make without a network.
func inProcess(t *testing.T, task *wire.Task, owners int, books ...*spending.Book) []byte {
	t.Helper()
	id, err := task.Digest()
	must(t, err)
	var reports [][]byte
	for _, b := range books {
		given, err := b.For(t.Context(), id)
		must(t, err)
		for i := range owners {
			if e, found := given[i]; found {
				reports = append(reports, e.Report)
			}
		}
	}
	return ofReports(t, task, reports)
}

// ofReports is the model that reports make without a network.
func ofReports(t *testing.T, task *wire.Task, reports [][]byte) []byte {
	t.Helper()
	c, err := core.New(task)
	must(t, err)
	for slot := range task.Slots() {
		for _, b := range reports {
			r, err := wire.ParseReport(b)
			must(t, err)
			if r.Slot == slot {
				must(t, c.Receive(b))
			}
		}
		must(t, c.Close())
	}
	m, err := c.Model(core.Statement{})
	must(t, err)
	file, err := model.Marshal(m)
	must(t, err)
	return file
}

// TestModelEqualsTheSimulation trains over mutual TLS. The bytes of the model are
// those that the same reports make in one process.
func TestModelEqualsTheSimulation(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(nil)
	id := f.announce(ann)
	owners := f.owners(600, 1)
	sum, err := owners.Run(t.Context(), id)
	must(t, err)
	if sum.Owners != 600 || sum.Accepted != 600 {
		t.Errorf("got %+v, want 600 accepted", *sum)
	}
	if got := f.model(id); !bytes.Equal(got, inProcess(t, ann.Task, 600, owners.Book)) {
		t.Error("the model's bytes are not those of the same reports in one process")
	}
}

// TestProcessesDie stops the aggregator again and again while owners report. The
// others go on from the store: every report counts once.
func TestProcessesDie(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) { a.Quiet = 0 })
	id := f.announce(ann)
	owners := f.owners(600, 1)
	var clock sync.WaitGroup
	defer clock.Wait()
	clock.Go(func() { closeWhenFull(t, ann, 600, []*federation{f}, owners.Book) })
	done := make(chan error, 1)
	var sum *owner.Summary
	// A fixed address in front of whatever serves: owners keep theirs.
	front := newFront(t, f, nettest.Faults{})
	owners.Server = front.url
	go func() {
		var err error
		sum, err = owners.Run(t.Context(), id)
		done <- err
	}()
	for deaths := 0; ; deaths++ {
		alive := 400 * time.Millisecond
		if deaths == 8 {
			alive = time.Hour
		}
		select {
		case err := <-done:
			must(t, err)
			if sum.Accepted != 600 {
				t.Errorf("got %+v, want 600 accepted", *sum)
			}
			if got := f.model(id); !bytes.Equal(got, inProcess(t, ann.Task, 600, owners.Book)) {
				t.Error("the model's bytes are not those of the same reports in one process")
			}
			return
		case <-time.After(alive):
			front.swap(f)
		}
	}
}

// TestOwnersDieAfterTheirReports lets an owners' process die when its reports are
// stored, and start again when their slot has passed, or the task is over: they are
// not missed, and those who never reported are.
func TestOwnersDieAfterTheirReports(t *testing.T) {
	const people = 600 // one in 20 is in slot 1, which needs two
	for name, over := range map[string]bool{"in the next slot": false, "when the task is over": true} {
		t.Run(name, func(t *testing.T) {
			f := newFederation(t)
			f.serve()
			ann := f.plan(func(a *tasks.Announcement) { a.Quiet = 0 })
			id := f.announce(ann)
			owners := f.owners(people, 1)
			placing, err := ann.Task.Placing()
			must(t, err)
			keys, err := owners.Book.Keys(t.Context(), people)
			must(t, err)
			first := 0
			for i := range people {
				if placing.Of(keys.Name(i)).Slot == 0 {
					first++
				}
			}
			client := f.client(f.identity(identity.Reader, "ben"))
			ctx, kill := context.WithCancel(t.Context())
			var died sync.WaitGroup
			died.Go(func() { owners.Run(ctx, id) })
			for f.stored(client, id) != first {
				<-time.After(20 * time.Millisecond)
			}
			kill()
			died.Wait()
			f.ahead.Add(int64(slotTime))
			f.waitSlot(client, id, 1)
			want := people
			if over {
				_, err := f.client(f.identity(identity.Operator, "anna")).CloseTask(t.Context(),
					connect.NewRequest(&rpc.CloseTaskRequest{TaskId: id[:]}))
				must(t, err)
				want = first
			} else {
				f.ahead.Add(-int64(slotTime)) // closeWhenFull counts from the first slot
				var clock sync.WaitGroup
				defer clock.Wait()
				clock.Go(func() { closeWhenFull(t, ann, people, []*federation{f}, owners.Book) })
			}
			sum, err := owners.Run(t.Context(), id)
			must(t, err)
			if sum.Accepted != want || sum.Missed != people-want {
				t.Errorf("%+v: want %d accepted, and the others missed", *sum, want)
			}
		})
	}
}

// TestCopiedBooksSendTheSame copies owners' book before they answer and lets both answer: each
// owner has one report in both, so that the second one is a repetition, which costs no one
// anything.
func TestCopiedBooksSendTheSame(t *testing.T) {
	const people = 200
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) { a.Quiet = 0 })
	id := f.announce(ann)
	p := f.owners(people, 1)
	placing, err := ann.Task.Placing()
	must(t, err)
	keys, err := p.Book.Keys(t.Context(), people)
	must(t, err)
	first := 0
	for i := range people {
		if placing.Of(keys.Name(i)).Slot == 0 {
			first++
		}
	}
	must(t, p.Book.Close()) // what is in its log is in the file
	path := f.books[len(f.books)-1]
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path+".copy", text, 0o600))
	var given [2]map[int]answer.Entry
	for i, path := range []string{path, path + ".copy"} {
		b, err := spending.Open(t.Context(), path, 4*dp.Nano, "")
		must(t, err)
		defer b.Close()
		p.Book = b
		ctx, kill := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if _, err := p.Run(ctx, id); ctx.Err() == nil {
				t.Errorf("the owners are done before the second slot: %v", err)
				kill()
			}
		})
		for ctx.Err() == nil && len(given[i]) < first {
			<-time.After(20 * time.Millisecond)
			given[i], err = b.For(t.Context(), id)
			must(t, err)
		}
		kill()
		running.Wait()
	}
	for owner, e := range given[0] {
		if !bytes.Equal(e.Report, given[1][owner].Report) {
			t.Fatalf("owner %d has two reports of one task", owner)
		}
	}
}

func kindOf(err error) problem.Kind { return problem.Of(err).Kind }

func TestRolesAreKept(t *testing.T) {
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(nil))
	ctx := t.Context()
	calls := map[string]func(rpc.AggregatorClient) error{
		"GetTask": func(c rpc.AggregatorClient) error {
			_, err := c.GetTask(ctx, connect.NewRequest(&rpc.GetTaskRequest{TaskId: id[:]}))
			return err
		},
		"GetRoster": func(c rpc.AggregatorClient) error {
			_, err := c.GetRoster(ctx, connect.NewRequest(&rpc.GetRosterRequest{TaskId: id[:]}))
			return err
		},
		"ListTasks": func(c rpc.AggregatorClient) error {
			_, err := c.ListTasks(ctx, connect.NewRequest(&rpc.ListTasksRequest{}))
			return err
		},
		"GetRound": func(c rpc.AggregatorClient) error {
			_, err := c.GetRound(ctx, connect.NewRequest(&rpc.GetRoundRequest{TaskId: id[:]}))
			return err
		},
		"GetModel": func(c rpc.AggregatorClient) error {
			_, err := c.GetModel(ctx, connect.NewRequest(&rpc.GetModelRequest{TaskId: id[:]}))
			return err
		},
		"Upload": func(c rpc.AggregatorClient) error {
			_, err := c.Upload(ctx, connect.NewRequest(&rpc.UploadRequest{TaskId: id[:]}))
			return err
		},
		"CreateTask": func(c rpc.AggregatorClient) error {
			_, err := c.CreateTask(ctx, connect.NewRequest(&rpc.CreateTaskRequest{}))
			return err
		},
		"CloseTask": func(c rpc.AggregatorClient) error {
			_, err := c.CloseTask(ctx, connect.NewRequest(&rpc.CloseTaskRequest{TaskId: make([]byte, 32)}))
			return err
		},
	}
	allowed := map[identity.Role]string{
		identity.Owner:    "GetTask GetRoster ListTasks GetRound GetModel Upload",
		identity.Reader:   "GetTask GetRoster ListTasks GetRound GetModel",
		identity.Operator: "GetTask GetRoster ListTasks GetRound GetModel CreateTask CloseTask",
		identity.Helper:   "GetTask GetRoster ListTasks GetRound", identity.Aggregator: "",
	}
	for role, list := range allowed {
		client := f.client(f.identity(role, "x"))
		for name, call := range calls {
			got := kindOfNil(call(client)) != problem.Forbidden
			if want := strings.Contains(" "+list+" ", " "+name+" "); got != want {
				t.Errorf("%s may %s: %v, want %v", role, name, got, want)
			}
		}
	}
}

func kindOfNil(err error) problem.Kind {
	if err == nil {
		return problem.Kind{}
	}
	return kindOf(err)
}

// TestUnsafeTasksAreRefused announces what no owner should be asked.
func TestUnsafeTasksAreRefused(t *testing.T) {
	f := newFederation(t)
	f.serve()
	operator, mallory := f.identity(identity.Operator, "anna"), f.identity(identity.Owner, "mallory")
	create := func(s tasks.Signed) error {
		_, err := f.client(operator).CreateTask(t.Context(), connect.NewRequest(&rpc.CreateTaskRequest{Task: message(s)}))
		return err
	}
	good, err := f.plan(nil).Sign(operator)
	must(t, err)
	byOwner, err := f.plan(nil).Sign(mallory)
	must(t, err)
	bent := good
	bent.Text = bytes.Replace(good.Text, []byte(`"minimum":2`), []byte(`"minimum":3`), 1)
	costly, err := f.plan(func(a *tasks.Announcement) { a.Task.Epsilon = 5 * dp.Nano }).Sign(operator)
	must(t, err)
	lone := good
	lone.Text = bytes.Replace(good.Text, []byte(`"minimum":2`), []byte(`"minimum":1`), 1)
	lone.Signature, err = operator.Sign("discreet announcement 1", lone.Text)
	must(t, err)
	past, err := f.plan(func(a *tasks.Announcement) { a.Ends = time.Now().Add(-time.Minute).Truncate(time.Second) }).Sign(
		operator)
	must(t, err)
	whole, err := f.secretPlan(helpertest.New(t, f.log, f.authority, 3), 3, nil).Sign(operator)
	must(t, err)
	secret := whole
	secret.Text = regexp.MustCompile(`"helpers":\[.*?\],`).ReplaceAll(whole.Text, nil)
	secret.Signature, err = operator.Sign("discreet announcement 1", secret.Text)
	must(t, err)
	for name, s := range map[string]tasks.Signed{"without its helpers": secret, "signed by an owner": byOwner,
		"bent": bent, "too costly": costly, "a batch of one": lone, "in the past": past} {
		if err := create(s); kindOfNil(err) != problem.UnsafeTask {
			t.Errorf("%s: %v, want an unsafe task", name, err)
		}
	}
	must(t, create(good))
	must(t, create(good))
}

// TestTaskEndsWhereTooFewReport lets a slot pass without its minimum.
func TestTaskEndsWhereTooFewReport(t *testing.T) {
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(func(a *tasks.Announcement) { a.Minimum = 1000 }))
	owners := f.owners(60, 1)
	reader := f.client(f.identity(identity.Reader, "r"))
	var passing sync.WaitGroup
	passing.Go(func() {
		for f.stored(reader, id) == 0 { // those of a slot come together
			<-time.After(20 * time.Millisecond)
		}
		f.ahead.Add(int64(slotTime))
	})
	sum, err := owners.Run(t.Context(), id)
	must(t, err)
	passing.Wait()
	if sum.Accepted == 0 || sum.Missed == 0 || sum.Accepted+sum.Missed != 60 {
		t.Errorf("got %+v, want the first slot accepted and the others missed", *sum)
	}
	_, err = reader.GetModel(t.Context(), connect.NewRequest(&rpc.GetModelRequest{TaskId: id[:]}))
	if kindOfNil(err) != problem.TaskClosed {
		t.Errorf("err = %v, want a closed task", err)
	}
}
