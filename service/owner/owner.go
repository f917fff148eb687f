// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	core "github.com/discreet-dp/discreet/local/owner"
	"github.com/discreet-dp/discreet/local/wire"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/rng"
	"github.com/discreet-dp/discreet/schema"
	"github.com/discreet-dp/discreet/service/announce"
	"github.com/discreet-dp/discreet/service/book"
	"github.com/discreet-dp/discreet/service/identity"
	"github.com/discreet-dp/discreet/service/problem"
	"github.com/discreet-dp/discreet/service/rpc"
)

// Params are what an owner decides.
type Params struct {
	Self   *identity.Identity // an owner's
	Server string             // the aggregator's address, https://host:port
	Book   *book.Book
	// Read reads the owner's rows as the task's schema describes them.
	Read func(*schema.Schema) (*dataset.Table, error)
	// Owners share the rows evenly, in order, each with its own key; 1 for one
	// owner of all rows, who reports about one that it draws.
	Owners int
	Cap    dp.Epsilon // the largest ε of a task that is answered
	Log    *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
	// Source makes sources of randomness, one for each goroutine; nil: the
	// system's. Another one is for tests.
	Source func() rng.Source
	// Progress is told how many owners are done, where it is not nil.
	Progress func(done, total int)
}

// Summary is what became of the owners.
type Summary struct {
	Owners   int `json:"owners"`
	Accepted int `json:"accepted"` // reports that the aggregator has stored
	Missed   int `json:"missed"`   // owners whose slot had been closed
	Refused  int `json:"refused"`  // reports refused for another reason
}

const (
	callTimeout = 30 * time.Second
	batch       = 1000 // reports of one request
	firstPause  = 100 * time.Millisecond
	lastPause   = 5 * time.Second
)

// member is one owner in a run.
type member struct {
	key  ed25519.PrivateKey
	name string
	core wire.Place
	row  [2]int // first, and first of the next owner
}

// run is one task on its way.
type run struct {
	Params
	client rpc.AggregatorClient
	id     wire.Digest
	ends   time.Time
	terms  *core.Terms
	recs   *core.Records
	slots  [][]*member
	sum    Summary
}

// Run takes part in the task of that name until every owner has answered or
// cannot any more.
func (p Params) Run(ctx context.Context, id wire.Digest) (*Summary, error) {
	if p.Self == nil || p.Self.Role != identity.Owner {
		return nil, &dp.ParamError{Op: "owner", Param: "certificate", Want: "must be an owner's"}
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Source == nil {
		p.Source = rng.System
	}
	transport := &http.Transport{TLSClientConfig: p.Self.Client(identity.Aggregator), ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	r := &run{Params: p, id: id, client: rpc.NewAggregatorClient(&http.Client{Transport: transport}, p.Server, connect.WithReadMaxBytes(wire.MaxText+1<<16))}
	if err := r.accept(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(r.ends.Sub(p.Now())))
	defer cancel()
	if err := r.enrol(ctx); err != nil {
		return nil, err
	}
	err := r.follow(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("owner: the task ended before every owner was asked: %w", err)
	}
	return &r.sum, err
}

// accept fetches the task and holds it against what the owner is ready for.
func (r *run) accept(ctx context.Context) error {
	var t *rpc.SignedTask
	if err := r.call(ctx, func(ctx context.Context) error {
		a, err := r.client.GetTask(ctx, connect.NewRequest(&rpc.GetTaskRequest{TaskId: r.id[:]}))
		if err == nil {
			t = a.Msg.GetTask()
		}
		return err
	}); err != nil {
		return err
	}
	signed := announce.Signed{Text: t.GetAnnouncement(), Signature: identity.Signature{Certificate: t.GetCertificate(), Value: t.GetSignature()}}
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
	r.ends = ann.Ends
	r.terms, err = core.Accept(text, core.Caps{Epsilon: r.Cap})
	return err
}

// enrol reads the rows and gives every owner its key and its place.
func (r *run) enrol(ctx context.Context) error {
	tab, err := r.Read(r.terms.Task().Schema)
	if err != nil {
		return err
	}
	if r.Owners < 1 || r.Owners > tab.Rows {
		return &dp.ParamError{Op: "owner", Param: "owners", Want: "must be at least 1 and at most the number of rows", Got: r.Owners}
	}
	if r.recs, err = r.terms.Bind(tab); err != nil {
		return err
	}
	keys, err := r.Book.Keys(ctx, r.Owners)
	if err != nil {
		return err
	}
	r.slots = make([][]*member, r.terms.Task().Slots())
	r.sum.Owners = len(keys)
	for i, key := range keys {
		name := book.Name(key.Public().(ed25519.PublicKey))
		m := &member{key: key, name: name, core: r.terms.Place(name), row: [2]int{i * tab.Rows / len(keys), (i + 1) * tab.Rows / len(keys)}}
		r.slots[m.core.Slot] = append(r.slots[m.core.Slot], m)
	}
	return nil
}

// follow waits for slots and answers for the owners whose turn has come.
func (r *run) follow(ctx context.Context) error {
	for at := 0; at < len(r.slots); {
		if len(r.slots[at]) == 0 {
			at++
			continue
		}
		var state *rpc.GetRoundResponse
		if err := r.call(ctx, func(ctx context.Context) error {
			a, err := r.client.GetRound(ctx, connect.NewRequest(&rpc.GetRoundRequest{TaskId: r.id[:]}))
			if err == nil {
				state = a.Msg
			}
			return err
		}); err != nil {
			return err
		}
		slot, over := int(state.GetState().GetSlot()), state.GetState().GetState() != rpc.State_STATE_OPEN
		for at < len(r.slots) && (over || at < slot) {
			r.sum.Missed += len(r.slots[at])
			at++
		}
		if at == len(r.slots) {
			break
		}
		if at > slot || len(r.slots[at]) == 0 {
			if err := pause(ctx, time.Duration(max(50, state.GetRetryAfterMs()))*time.Millisecond); err != nil {
				return err
			}
			continue
		}
		if err := r.answer(ctx, at, state.GetBroadcast()); err != nil {
			return err
		}
		at++
	}
	r.progress()
	return nil
}

// answer lets the owners of a slot answer a broadcast, a batch at a time: first
// into the book, then over the wire.
func (r *run) answer(ctx context.Context, slot int, broadcast []byte) error {
	round, err := r.terms.Read(broadcast)
	if err != nil {
		return fmt.Errorf("owner: the broadcast is not one of the task's, nobody answers it: %w", err)
	}
	if round.Slot() != slot {
		return fmt.Errorf("owner: the broadcast is for slot %d, not for the open one, %d", round.Slot(), slot)
	}
	digest := sha256.Sum256(broadcast)
	todo := make(chan []*member)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			reporter, exit := round.Reporter(r.recs), mech.NewExit(r.Source())
			for part := range todo {
				got, err := r.reports(ctx, reporter, exit, part, digest)
				if err == nil {
					err = r.send(ctx, part, got, &mu)
				}
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					cancel()
					return
				}
			}
		})
	}
	members := r.slots[slot]
feed:
	for from := 0; from < len(members); from += batch {
		select {
		case todo <- members[from:min(from+batch, len(members))]:
		case <-ctx.Done():
			break feed
		}
	}
	close(todo)
	wg.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// reports draws what the owners let out and writes it into the book. Who has
// answered before gives the same bytes again, and none where that was another
// broadcast's.
func (r *run) reports(ctx context.Context, reporter *core.Reporter, exit *mech.Exit, part []*member, digest [32]byte) ([][]byte, error) {
	given := make([]book.Given, len(part))
	for i, m := range part {
		row := m.row[0]
		if n := m.row[1] - m.row[0]; n > 1 {
			row += int(rng.Below(exit.Public(), uint64(n)))
		}
		rep, err := reporter.Report(m.name, m.core.Ticket, row, exit)
		if err != nil {
			return nil, err
		}
		given[i] = book.Given{Owner: m.name, Task: r.id, Cost: r.terms.Task().Epsilon, Entry: core.Entry{Round: digest, Report: rep.Append(nil)}}
	}
	if err := r.Book.Commit(ctx, given); err != nil {
		return nil, err
	}
	out := make([][]byte, len(given))
	for i := range given {
		if given[i].Round != digest {
			r.Log.Warn("an owner has answered another broadcast of this task: it sends nothing", "owner", given[i].Owner)
			continue
		}
		out[i] = bytes.Clone(given[i].Report)
	}
	return out, nil
}

// send uploads reports until the aggregator has said what became of each.
func (r *run) send(ctx context.Context, part []*member, reports [][]byte, mu *sync.Mutex) error {
	for len(part) > 0 {
		var upload rpc.UploadRequest
		var of []*member
		var raw [][]byte
		upload.TaskId = r.id[:]
		for i, rep := range reports {
			if rep == nil {
				continue
			}
			upload.Reports = append(upload.Reports, &rpc.SignedReport{Report: rep, Signature: ed25519.Sign(part[i].key, announce.Signable(rep))})
			of, raw = append(of, part[i]), append(raw, rep)
		}
		var refusals []*rpc.Refusal
		if err := r.call(ctx, func(ctx context.Context) error {
			a, err := r.client.Upload(ctx, connect.NewRequest(&upload))
			if err == nil {
				refusals = a.Msg.GetRefusals()
			}
			return err
		}); err != nil {
			return err
		}
		var again []*member
		var againRaw [][]byte
		mu.Lock()
		accepted := len(of) - len(refusals)
		for _, f := range refusals {
			p := problem.FromProto(f.GetProblem())
			i := int(f.GetIndex())
			switch {
			case i >= len(of):
				mu.Unlock()
				return fmt.Errorf("owner: the aggregator refused report %d of %d", i, len(of))
			case p.Kind.Again():
				again, againRaw = append(again, of[i]), append(againRaw, raw[i])
			case p.Kind == problem.Late:
				r.sum.Missed++
			default:
				r.sum.Refused++
				r.Log.Warn("a report was refused", "owner", of[i].name, "problem", p.Error())
			}
		}
		r.sum.Accepted += accepted
		r.progress()
		mu.Unlock()
		part, reports = again, againRaw
		if len(part) > 0 {
			if err := pause(ctx, firstPause); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) progress() {
	if r.Progress != nil {
		r.Progress(r.sum.Accepted+r.sum.Missed+r.sum.Refused, r.sum.Owners)
	}
}

// call makes a call until it is answered: what is asked here may be asked twice.
// Problems that trying again cannot mend are returned.
func (r *run) call(ctx context.Context, once func(context.Context) error) error {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		one, cancel := context.WithTimeout(ctx, callTimeout)
		err := once(one)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p := problem.Of(err); p.Kind != problem.Internal && !p.Kind.Again() {
			return fmt.Errorf("owner: the aggregator: %w", p)
		} else if code := connect.CodeOf(err); p.Kind == problem.Internal && code != connect.CodeUnavailable && code != connect.CodeDeadlineExceeded && code != connect.CodeUnknown && code != connect.CodeCanceled {
			return fmt.Errorf("owner: the aggregator: %w", err)
		}
		r.Log.Info("trying again", "after", wait, "error", err)
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
