// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	core "github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are an owner's options.
type Params struct {
	Self   *identity.Identity // certificate of an owner
	Server string             // the aggregator's address, https://host:port
	Book   *spending.Book
	// Read reads the owner's rows with the task's schema.
	Read func(*schema.Schema) (*dataset.Table, error)
	// Owners is the number of owners, who share the rows evenly, in order, each with its own key. 1
	// means one owner of all rows, who reports about one that it draws.
	Owners int
	// Connections is the number of connections to the aggregator, each with one upload at a time; 0:
	// one.
	Connections int
	Cap         dp.Epsilon // the largest ε of an accepted task
	// Mode is the mode of accepted tasks, because the modes differ in their promises to owners; "" for
	// local.
	Mode wire.Mode
	// Honest is, in mode aggregate, the minimum number of honest owners to rely on in a task's list: a
	// task that needs more is refused.
	Honest int
	Log    *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
	// Source makes the randomness for one part of the owners, as in federated/simulate. The numbers of
	// parts do not depend on the number of connections and processors. nil: each owner's own key, with
	// the subject of its answer. Others are for tests.
	Source func(part int) rng.Source
	// Progress receives the number of finished owners, if it is not nil.
	Progress func(done, total int)
}

// Summary counts the owners by result.
type Summary struct {
	Owners   int `json:"owners"`
	Accepted int `json:"accepted"` // reports that the aggregator has stored
	Missed   int `json:"missed"`   // owners whose slot was already closed
	Refused  int `json:"refused"`  // reports refused for other reasons
	Strange  int `json:"strange"`  // owners who are not on the task's list
	Silent   int `json:"silent"`   // owners who have answered another broadcast of the task, or cannot afford it
	// Durations of the answered uploads in milliseconds.
	UploadMedianMs int64 `json:"upload_median_ms"`
	UploadP99Ms    int64 `json:"upload_p99_ms"`
}

const (
	callTimeout = 30 * time.Second
	partSize    = 1024 // owners who are written to the book together
	firstPause  = 100 * time.Millisecond
	lastPause   = 5 * time.Second
	// Limits of the number of reports in one request, and in all running requests: reports cost memory
	// at both ends, and more connections do not make a disk faster.
	leastBatch, mostBatch = 30, 500
	underWay              = 30_000
)

// run is one task in progress.
type run struct {
	Params
	clients []rpc.AggregatorClient // each its own connection
	id      wire.Digest
	ann     *tasks.Announcement
	terms   *core.Terms
	owners  *core.Owners
	keys    spending.Keys
	roster  tasks.Roster // owners who may report; nil: any owner with a key
	slots   [][]int32    // the numbers of each slot's owners

	mu   sync.Mutex
	sum  Summary
	took []time.Duration // duration of each upload
}

// Run takes part in the task with the given ID until every owner has answered or no longer can.
func (p Params) Run(ctx context.Context, id wire.Digest) (*Summary, error) {
	if err := p.Self.CheckRole("owner", identity.Owner); err != nil {
		return nil, err
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Mode == "" {
		p.Mode = wire.Local
	}
	r := &run{Params: p, id: id}
	for range max(1, p.Connections) {
		client := p.Self.HTTPClient(identity.Aggregator)
		defer client.CloseIdleConnections()
		r.clients = append(r.clients, rpc.NewAggregatorClient(client, p.Server, admission.Replies(wire.MaxText+1<<16)))
	}
	if err := r.acceptTask(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(r.ann.Ends.Sub(p.Now())))
	defer cancel()
	if err := r.enrolOwners(ctx); err != nil {
		return nil, err
	}
	err := r.followSlots(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("owner: the task ended before every owner was asked: %w", err)
	}
	slices.Sort(r.took)
	if n := len(r.took); n > 0 {
		r.sum.UploadMedianMs, r.sum.UploadP99Ms = r.took[n/2].Milliseconds(), r.took[min(n-1, n*99/100)].Milliseconds()
	}
	return &r.sum, err
}

// acceptTask fetches the task and checks it against the owner's limits.
func (r *run) acceptTask(ctx context.Context) error {
	var t *rpc.SignedTask
	var most uint64 // owners of this certificate; 0: no bound
	if err := r.callAgain(ctx, func(ctx context.Context) error {
		a, err := r.clients[0].GetTask(ctx, connect.NewRequest(&rpc.GetTaskRequest{TaskId: r.id[:]}))
		if err == nil {
			t, most = a.Msg.GetTask(), a.Msg.GetOwners()
		}
		return err
	}); err != nil {
		return err
	}
	signed := tasks.Signed{Text: t.GetAnnouncement(),
		Signature: identity.Signature{Certificate: t.GetCertificate(), Value: t.GetSignature()}}
	ann, err := signed.Open(r.Self, r.Now())
	if err != nil {
		return err
	}
	text, err := ann.Task.Text()
	if err != nil {
		return err
	}
	if sha256.Sum256(text) != r.id {
		return errors.New("owner: the aggregator sent another task than the one asked for")
	}
	if ann.Task.Mode != r.Mode {
		return dp.Refuse("owner", "mode", "must be the one that this owner takes part in, "+string(r.Mode),
			string(ann.Task.Mode))
	}
	if most > 0 && uint64(max(0, r.Owners)) > most {
		return dp.Refuse("owner", "owners",
			fmt.Sprintf("must be at most %d: the aggregator takes no more of one certificate for this task", most), r.Owners)
	}
	r.ann = ann
	r.terms, err = core.Accept(text, core.Caps{Epsilon: r.Cap})
	return err
}

// enrolOwners reads the rows and gives every owner its key and its place.
func (r *run) enrolOwners(ctx context.Context) error {
	tab, err := r.Read(r.terms.Task().Schema)
	if err != nil {
		return err
	}
	recs, err := r.terms.Bind(tab)
	if err != nil {
		return err
	}
	if r.owners, err = core.NewOwners(recs, r.Owners, func(i int) string { return r.keys.Name(i) }, r.Book); err != nil {
		return err
	}
	if r.keys, err = r.Book.Keys(ctx, r.Owners); err != nil {
		return err
	}
	if r.Source == nil {
		r.owners.DrawBy(func(owner int, subject []byte) rng.Source { return r.coins(owner, "answer", subject) })
	}
	broke, err := r.Book.Broke(ctx, r.id, r.terms.Task().Epsilon, r.Owners)
	if err != nil {
		return err
	}
	if r.roster, err = r.fetchRoster(ctx); err != nil {
		return err
	}
	r.slots = make([][]int32, r.terms.Task().Slots())
	r.sum.Owners = r.Owners
	for i := range r.Owners {
		if r.roster != nil && !r.roster.Has(r.keys.Public(i)) {
			r.sum.Strange++
			continue
		}
		if broke[i] { // in mode aggregate others would count on it
			r.sum.Silent++
			continue
		}
		slot := r.owners.Place(i).Slot
		r.slots[slot] = append(r.slots[slot], int32(i))
	}
	if r.sum.Strange == r.Owners {
		return fmt.Errorf("owner: %w", problem.New(problem.UnknownOwner, ""))
	}
	return nil
}

// fetchRoster fetches the task's list of owners, nil if it has none. An owner who is not on it would
// pay for a report that is refused.
func (r *run) fetchRoster(ctx context.Context) (tasks.Roster, error) {
	if !r.ann.Roster.Named() {
		return nil, nil
	}
	var keys []byte
	if err := r.callAgain(ctx, func(ctx context.Context) error {
		a, err := r.clients[0].GetRoster(ctx, connect.NewRequest(&rpc.GetRosterRequest{TaskId: r.id[:]}))
		if err == nil {
			keys = a.Msg.GetKeys()
		}
		return err
	}); err != nil {
		return nil, err
	}
	roster, err := tasks.RosterOf(keys)
	if err == nil {
		err = r.ann.CheckRoster(roster)
	}
	if err == nil && r.ann.Task.Mode == wire.Aggregate && !(r.Honest >= r.ann.Honest) {
		err = &dp.ParamError{Op: "owner", Param: "honest",
			Want: fmt.Sprintf("must be at least %d: this task counts on so many of the %d owners on its list to be honest",
				r.ann.Honest, roster.Len()), Got: r.Honest,
			Hint: "how many you count on is yours to say; too few honest ones leave your numbers bare"}
	}
	return roster, err
}

// followSlots waits for slots and answers for the owners of each.
func (r *run) followSlots(ctx context.Context) error {
	for at := 0; at < len(r.slots); {
		if len(r.slots[at]) == 0 {
			at++
			continue
		}
		want := at
		state, err := r.askRound(ctx, want)
		if err != nil {
			return err
		}
		slot, over := int(state.GetState().GetSlot()), state.GetState().GetState() != rpc.State_STATE_OPEN
		for ; at < len(r.slots) && (over || at < slot); at++ {
			if err := r.settlePassed(ctx, r.slots[at]); err != nil {
				return err
			}
		}
		if at == len(r.slots) {
			break
		}
		if at != want { // another one is open, whose broadcast was not asked for
			continue
		}
		if at > slot {
			wait := time.Duration(state.GetRetryAfterMs()) * time.Millisecond
			if err := problem.Pause(ctx, min(max(wait, firstPause), time.Minute)); err != nil {
				return err
			}
			continue
		}
		if r.ann.Task.Mode == wire.Aggregate {
			err = r.takePart(ctx, at, state)
		} else {
			err = r.answerSlot(ctx, at, state.GetBroadcast())
		}
		if err != nil {
			return err
		}
		at++
	}
	r.reportProgress()
	return nil
}

// settlePassed determines the result for the owners of a past slot. Some may have answered before the
// process died: their reports in the book are sent again, and the aggregator replies whether it has
// them.
func (r *run) settlePassed(ctx context.Context, owners []int32) error {
	if len(owners) == 0 {
		return nil
	}
	var given []core.Given
	if r.ann.Task.Mode == wire.Local {
		before, err := r.Book.For(ctx, r.id)
		if err != nil {
			return err
		}
		for _, n := range owners {
			if e, found := before[int(n)]; found {
				given = append(given, core.Given{Owner: int(n), Task: r.id, Entry: e})
			}
		}
	}
	for some := range slices.Chunk(given, r.batchSize()) {
		if err := r.sendReports(ctx, r.clients[0], some); err != nil {
			return err
		}
	}
	r.settleOwners(0, len(owners)-len(given))
	return nil
}

// answerSlot lets the owners of a slot answer a broadcast, one part at a time: each part is written to
// the book and then sent.
func (r *run) answerSlot(ctx context.Context, slot int, broadcast []byte) error {
	round, err := r.terms.Read(broadcast)
	if err != nil {
		return fmt.Errorf("owner: the broadcast is not one of the task's and is not answered: %w", err)
	}
	if round.Slot() != slot {
		return fmt.Errorf("owner: the broadcast is for slot %d, not for the open one, %d", round.Slot(), slot)
	}
	todo, ready := make(chan part), make(chan []core.Given)
	var drawing, sending sync.WaitGroup
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for range runtime.GOMAXPROCS(0) {
		drawing.Go(func() {
			reporter := round.Reporter(r.owners)
			for p := range todo {
				given, err := reporter.Report(ctx, p.owners, r.exitOf(p.number))
				if err != nil {
					fail(err)
					return
				}
				r.noteSilent(len(p.owners) - len(given))
				for some := range slices.Chunk(given, r.batchSize()) {
					select {
					case ready <- some:
					case <-ctx.Done():
						return
					}
				}
			}
		})
	}
	for _, client := range r.clients {
		sending.Go(func() {
			for given := range ready {
				if err := r.sendReports(ctx, client, given); err != nil {
					fail(err)
					return
				}
			}
		})
	}
	number := r.firstPart(slot)
feed:
	for owners := range slices.Chunk(r.slots[slot], partSize) {
		select {
		case todo <- part{number, owners}:
			number++
		case <-ctx.Done():
			break feed
		}
	}
	close(todo)
	drawing.Wait()
	close(ready)
	sending.Wait()
	return context.Cause(ctx)
}

// coins returns an owner's random words for a purpose and a subject, derived from its key.
func (r *run) coins(owner int, purpose string, subject []byte) rng.Source {
	return rng.Keyed(r.keys.At(owner).Seed(), purpose, subject)
}

// exitOf returns the exit for a part of the owners, nil if each draws from its own coins.
func (r *run) exitOf(part int) *mech.Exit {
	if r.Source == nil {
		return nil
	}
	return mech.NewExit(r.Source(part))
}

// part is a group of a slot's owners who answer with the same source of randomness.
type part struct {
	number int
	owners []int32
}

// firstPart returns the number of a slot's first part. Number 0 is not used here.
func (r *run) firstPart(slot int) int {
	n := 1
	for _, owners := range r.slots[:slot] {
		n += (len(owners) + partSize - 1) / partSize
	}
	return n
}

// batchSize is the number of reports in a request.
func (r *run) batchSize() int { return min(max(underWay/len(r.clients), leastBatch), mostBatch) }

// noteSilent counts owners who send nothing.
func (r *run) noteSilent(n int) {
	if n < 1 {
		return
	}
	r.Log.Warn("owners send nothing: they have answered another broadcast of this task, or cannot afford it", "owners", n)
	r.mu.Lock()
	r.sum.Silent += n
	r.mu.Unlock()
}

// sendReports uploads reports until the aggregator has replied about each.
func (r *run) sendReports(ctx context.Context, client rpc.AggregatorClient, given []core.Given) error {
	for len(given) > 0 {
		upload := &rpc.UploadRequest{TaskId: r.id[:]}
		for _, g := range given {
			upload.Reports = append(upload.Reports,
				&rpc.SignedReport{Report: g.Report, Signature: ed25519.Sign(r.keys.At(g.Owner), tasks.Signable(g.Report))})
		}
		var refusals []*rpc.Refusal
		if err := r.callAgain(ctx, func(ctx context.Context) error {
			began := time.Now()
			a, err := client.Upload(ctx, connect.NewRequest(upload))
			if err != nil {
				return err
			}
			refusals = a.Msg.GetRefusals()
			r.mu.Lock()
			r.took = append(r.took, time.Since(began))
			r.mu.Unlock()
			return nil
		}); err != nil {
			return err
		}
		again, err := r.countRefusals(given, refusals)
		if err != nil {
			return err
		}
		given = again
		if len(given) > 0 {
			if err := problem.Pause(ctx, firstPause); err != nil {
				return err
			}
		}
	}
	return nil
}

// countRefusals counts the results of reports and returns the reports to send again.
func (r *run) countRefusals(given []core.Given, refusals []*rpc.Refusal) (again []core.Given, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := -1
	for _, f := range refusals {
		i := int(f.GetIndex())
		if i <= last || i >= len(given) {
			return nil, fmt.Errorf("owner: the aggregator refused report %d of %d, after %d", i, len(given), last)
		}
		last = i
		switch p := problem.FromProto(f.GetProblem()); {
		case p.Kind.Again():
			again = append(again, given[i])
		case p.Kind == problem.Late:
			r.sum.Missed++
		case p.Kind == problem.Crowded: // the others would pay for the same
			return nil, fmt.Errorf("owner: the aggregator: %w", p)
		default:
			r.sum.Refused++
			r.Log.Warn("a report was refused", "owner", r.keys.Name(given[i].Owner), "problem", p.Error())
		}
	}
	r.sum.Accepted += len(given) - len(refusals)
	r.reportProgress()
	return again, nil
}

func (r *run) reportProgress() {
	if r.Progress != nil {
		r.Progress(r.sum.Accepted+r.sum.Missed+r.sum.Refused+r.sum.Strange+r.sum.Silent, r.sum.Owners)
	}
}

// callAgain repeats a call until it is answered; the calls made here may be repeated. It returns
// problems that retries cannot fix.
func (r *run) callAgain(ctx context.Context, once func(context.Context) error) error {
	again := problem.Retry{First: firstPause, Last: lastPause, Each: callTimeout,
		Say: func(after time.Duration, err error) {
			r.Log.Info("trying again", "after", after, "error", err)
		}}
	switch err := again.Do(ctx, problem.Passing, once); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	default:
		return fmt.Errorf("owner: the aggregator: %w", problem.Named(err))
	}
}
