// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	core "github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// takePart announces the participation of a slot's owners in mode aggregate, waits for the roster, and
// sends their shares to the helpers.
func (r *run) takePart(ctx context.Context, slot int, now *rpc.GetRoundResponse) error {
	for joined := false; ; {
		if now.GetSum() != nil {
			return r.giveShares(ctx, slot, now)
		}
		if !joined {
			if err := r.joinSlot(ctx, slot); err != nil {
				return err
			}
			joined = true
		}
		if err := problem.Pause(ctx, min(max(time.Duration(now.GetRetryAfterMs())*time.Millisecond, firstPause),
			time.Minute)); err != nil {
			return err
		}
		var err error
		if now, err = r.askRound(ctx, slot); err != nil {
			return err
		}
		if slotPassed(now, slot) {
			r.settleOwners(0, len(r.slots[slot]))
			return nil
		}
	}
}

// askRound fetches the status of the task, and the broadcast for the owners of a slot.
func (r *run) askRound(ctx context.Context, slot int) (now *rpc.GetRoundResponse, err error) {
	want := uint32(slot)
	err = r.callAgain(ctx, func(ctx context.Context) error {
		a, err := r.clients[0].GetRound(ctx, connect.NewRequest(&rpc.GetRoundRequest{TaskId: r.id[:], Slot: &want}))
		if err == nil {
			now = a.Msg
		}
		return err
	})
	return now, err
}

// slotPassed reports whether a slot has passed.
func slotPassed(now *rpc.GetRoundResponse, slot int) bool {
	return now.GetState().GetState() != rpc.State_STATE_OPEN || int(now.GetState().GetSlot()) > slot
}

// joinSlot announces that a slot's owners take part, by reports without words. Announcing twice has no
// effect. Owners who are too late find out from the roster.
func (r *run) joinSlot(ctx context.Context, slot int) error {
	for some := range slices.Chunk(r.slots[slot], mostBatch) {
		for len(some) > 0 {
			upload := &rpc.UploadRequest{TaskId: r.id[:]}
			for _, n := range some {
				report := (&wire.Report{Task: r.id, Owner: r.keys.Name(int(n)), Slot: slot}).Append(nil)
				upload.Reports = append(upload.Reports,
					&rpc.SignedReport{Report: report, Signature: ed25519.Sign(r.keys.At(int(n)), tasks.Signable(report))})
			}
			var again []int32
			if err := r.callAgain(ctx, func(ctx context.Context) error {
				a, err := r.clients[0].Upload(ctx, connect.NewRequest(upload))
				if err != nil {
					return err
				}
				again = nil
				for _, f := range a.Msg.GetRefusals() {
					if i := int(f.GetIndex()); i < len(some) && problem.FromProto(f.GetProblem()).Kind.Again() {
						again = append(again, some[i])
					}
				}
				return nil
			}); err != nil {
				return err
			}
			if some = again; len(some) > 0 {
				if err := problem.Pause(ctx, firstPause); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// giveShares checks a slot's sum against the task and the announcement, writes the shares of owners in
// its roster to the book, and sends them until the helpers have them or the slot is over.
func (r *run) giveShares(ctx context.Context, slot int, now *rpc.GetRoundResponse) error {
	round, err := r.terms.Read(now.GetBroadcast())
	if err != nil {
		return fmt.Errorf("owner: the broadcast is not one of the task's and is not answered: %w", err)
	}
	if round.Slot() != slot {
		return fmt.Errorf("owner: the broadcast is for slot %d, not for the open one, %d", round.Slot(), slot)
	}
	secret, id, err := secretsum.FromProto(now.GetSum()).Open(r.Self, r.Now())
	if err == nil && secret.Collector.Role != identity.Aggregator {
		err = fmt.Errorf("sum: its collector is %s, want an aggregator", secret.Collector)
	}
	if err == nil {
		err = r.ann.CheckSum(secret, now.GetBroadcast(), r.roster, r.Now())
	}
	if err != nil {
		return fmt.Errorf("owner: no shares are given to this sum: %w", err)
	}
	clients := make([]*secretsum.Client, len(secret.Helpers))
	for h, helper := range secret.Helpers {
		if helper.Memory != (secretsum.Memory{}) {
			clients[h] = secretsum.Dial(r.Self, helper.Name, r.ann.Helpers[h].Address, r.Log)
			defer clients[h].Close()
		}
	}
	switch there, err := r.awaitHelpers(ctx, slot, id, clients); {
	case err != nil:
		return err
	case !there: // no one has paid
		r.settleOwners(0, len(r.slots[slot]))
		return nil
	}
	given, places, err := r.splitAddends(ctx, round, r.slots[slot], secret, id)
	if err != nil {
		return err
	}
	shares := make([][]secretsum.Share, len(given))
	for i, g := range given {
		if shares[i], err = signShares(g.Report, places[g.Owner], len(secret.Helpers), r.keys.At(g.Owner)); err != nil {
			return err
		}
	}
	return r.deliverShares(ctx, slot, id, clients, shares)
}

// awaitHelpers waits until enough helpers to open the sum accept its shares; with fewer, shares would
// be paid for and never opened. It returns false if the slot ends first.
func (r *run) awaitHelpers(ctx context.Context, slot int, id secretsum.ID,
	clients []*secretsum.Client) (there bool, err error) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	missing := len(clients) - len(clients)/3
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, c := range clients {
		if c == nil {
			continue
		}
		wait.Go(func() {
			if err := c.Takes(asking, id); err != nil {
				if asking.Err() == nil {
					r.Log.Warn("a helper does not take shares", "helper", c.Name(), "error", err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if missing--; missing == 0 {
				stop()
			}
		})
	}
	failed := r.untilGone(asking, slot, stop)
	wait.Wait()
	stop()
	if err := failed(); err != nil {
		return false, err
	}
	return missing <= 0, ctx.Err()
}

// untilGone calls stop when the slot is over, or when its status cannot be fetched any more. The
// returned function waits for that, once ctx has ended, and returns why the status could not be
// fetched.
func (r *run) untilGone(ctx context.Context, slot int, stop func()) (failed func() error) {
	var err error
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			now, fault := r.askRound(ctx, len(r.slots)) // of no slot: what is open is large, and known
			if fault != nil || slotPassed(now, slot) {
				if ctx.Err() == nil {
					err = fault
				}
				stop()
				return
			}
			// the loop sees why
			_ = problem.Pause(ctx, min(max(time.Duration(now.GetRetryAfterMs())*time.Millisecond, firstPause), time.Minute))
		}
	})
	return func() error {
		watching.Wait()
		return err
	}
}

// splitAddends draws the addends of the owners in a sum's roster, splits them and writes the shares to
// the book. It returns what the book releases, and the owners' numbers in the roster.
func (r *run) splitAddends(ctx context.Context, round *core.Round, owners []int32, secret *secretsum.Sum,
	id secretsum.ID) ([]core.Given, map[int]int, error) {
	proto, err := secret.Protocol()
	if err != nil {
		return nil, nil, err
	}
	number := make(map[secretsum.Key]int, len(secret.Roster))
	for i, k := range secret.Roster {
		number[k] = i
	}
	places := map[int]int{}
	var in []int32
	for _, n := range owners {
		if i, found := number[r.keys.Public(int(n))]; found {
			places[int(n)], in = i, append(in, n)
		}
	}
	r.settleOwners(0, len(owners)-len(in))
	var mu sync.Mutex
	var all []core.Given
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	todo := make(chan part)
	var drawing sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		drawing.Go(func() {
			reporter := round.Reporter(r.owners)
			for p := range todo {
				split := r.splitter(-p.number, id)
				given, err := reporter.Share(ctx, id, p.owners, r.exitOf(p.number),
					func(owner int, addend []uint64) ([]byte, error) {
						shares, err := proto.Split(split(owner, addend), places[owner], addend)
						if err != nil {
							return nil, err
						}
						return packShares(shares)
					})
				if err != nil {
					fail(err)
					return
				}
				r.noteSilent(len(p.owners) - len(given))
				mu.Lock()
				all = append(all, given...)
				mu.Unlock()
			}
		})
	}
	first := r.firstPart(round.Slot())
feed:
	for some := range slices.Chunk(in, partSize) {
		select {
		case todo <- part{first, some}:
			first++
		case <-ctx.Done():
			break feed
		}
	}
	close(todo)
	drawing.Wait()
	return all, places, context.Cause(ctx)
}

// splitter returns the random words for splitting an owner's addend. They are determined by the addend
// and the sum, so that an addend is never split in two ways, and are independent for others.
func (r *run) splitter(part int, id secretsum.ID) func(owner int, addend []uint64) rng.Source {
	if r.Source != nil {
		src := r.Source(part)
		return func(int, []uint64) rng.Source { return src }
	}
	return func(owner int, addend []uint64) rng.Source {
		subject := bytes.Clone(id[:])
		for _, x := range addend {
			subject = binary.LittleEndian.AppendUint64(subject, x)
		}
		return r.coins(owner, "split", subject)
	}
}

// packShares encodes one owner's shares for its book.
func packShares(shares []secsum.Message) ([]byte, error) {
	bodies := make([][]byte, len(shares))
	for i, m := range shares {
		var err error
		if bodies[i], err = m.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return secretsum.Pack(bodies), nil
}

// signShares signs the shares that the book has released.
func signShares(entry []byte, place, helpers int, key ed25519.PrivateKey) ([]secretsum.Share, error) {
	bodies, err := secretsum.Unpack(entry)
	if err != nil {
		return nil, err
	}
	out := make([]secretsum.Share, len(bodies))
	for i, b := range bodies {
		var m secsum.Message
		if err := m.UnmarshalBinary(b); err != nil {
			return nil, err
		}
		if m.From != place || m.To != i || len(bodies) != helpers {
			return nil, errors.New("owner: the book holds shares of another owner, or for other helpers")
		}
		if out[i], err = secretsum.Seal(m, key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// deliverShares sends shares to the participating helpers, and gives up on helpers that do not answer
// once the slot is over.
func (r *run) deliverShares(ctx context.Context, slot int, id secretsum.ID, clients []*secretsum.Client,
	shares [][]secretsum.Share) error {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	failed := r.untilGone(sending, slot, stop)
	began := time.Now()
	d := secretsum.Deliver(sending, id, clients, shares)
	stop()
	err := failed()
	quorum := len(clients) - len(clients)/3
	accepted := 0
	for _, n := range d.Kept {
		if n >= quorum {
			accepted++
		}
	}
	r.mu.Lock()
	r.took = append(r.took, time.Since(began))
	r.mu.Unlock()
	r.settleOwners(accepted, len(shares)-accepted)
	for _, err := range d.Refused {
		r.Log.Warn("a helper has not taken shares", "error", err)
	}
	return errors.Join(err, ctx.Err())
}

// settleOwners counts the results of some owners.
func (r *run) settleOwners(accepted, missed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Accepted += accepted
	r.sum.Missed += missed
	r.reportProgress()
}
