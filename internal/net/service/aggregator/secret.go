// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// A slot of mode aggregate has two parts. While it is open, owners say that they
// take part: their keys, in order, are the roster. Sealed, it has a secret sum: the
// roster, the broadcast and the helpers under the aggregator's signature. Owners
// give helpers shares of their addends, and the aggregator has the sum opened.
//
// What is decided is stored before anyone sees it, so a process that dies here is
// replaced by one that goes on: the roster before owners, whose sum before helpers.

const (
	// patience is how long to wait for helpers that do not answer, once enough of them have answered
	// to open a sum.
	patience = 5 * time.Second
	// pollShares is the interval at which helpers are asked for their numbers of shares.
	pollShares = 250 * time.Millisecond
	// rest is the time between two attempts at a failed sum.
	rest = 2 * time.Second
)

// sharesUntil is when a sealed slot stops accepting shares; its sum must be opened within another
// slot's time.
func (l *live) sharesUntil(joined time.Time) time.Time {
	if d := joined.Add(l.ann.Slot); d.Before(l.ann.Ends) {
		return d
	}
	return l.ann.Ends
}

// gatherSum completes the secret sum of a sealed slot, from any state. It returns nil if the slot is
// done or the task has ended.
func (s *Server) gatherSum(ctx context.Context, l *live, slot int) error {
	l.mu.RLock()
	until := l.sharesUntil(l.deadline)
	l.mu.RUnlock()
	last := until.Add(l.ann.Slot)
	secret, err := s.Store.Secret(ctx, l.id, slot)
	if err != nil {
		return err
	}
	ctx, cancel := problem.Until(ctx, s.Now, last, errOver)
	defer cancel()
	var clients []*secretsum.Client
	for _, h := range l.ann.Helpers {
		c := secretsum.Dial(s.Self, h.Name, h.Address, s.Log)
		defer c.Close()
		clients = append(clients, c)
	}
	if secret == nil {
		secret, err = s.assembleSum(ctx, l, slot, clients, last)
	}
	if err == nil { // another process may have assembled it since owners here were told of none
		err = l.refreshState(ctx, s.Store)
	}
	if err == nil && secret.Total == nil {
		err = s.collectSum(ctx, l, slot, secret, clients, until)
	}
	few := (*secsum.Abort)(nil)
	switch {
	case err == nil:
		return s.advanceTask(context.WithoutCancel(ctx), l, slot)
	case errors.As(err, &few), errors.Is(err, secsum.ErrDeviation), errors.Is(context.Cause(ctx), errOver):
		s.Log.Warn("a secret sum was not opened", "task", l.String(), "slot", slot, "error", err)
		return s.endTask(context.WithoutCancel(ctx), l, slot, s.Store.GiveUp)
	}
	return err
}

// errOver reports that a sum has taken too long.
var errOver = errors.New("the time for the sum is over")

// errOthers reports that another aggregator on the same store, with its own certificate, has begun the
// sum.
var errOthers = errors.New("another aggregator collects the sum")

// assembleSum makes and stores the slot's secret sum, and returns the one that was
// stored first.
func (s *Server) assembleSum(ctx context.Context, l *live, slot int, clients []*secretsum.Client,
	last time.Time) (*store.Secret, error) {
	var roster []secretsum.Key
	if err := s.Store.Reports(ctx, l.id, slot, func(owner [32]byte, _ []byte) error {
		roster = append(roster, owner)
		return nil
	}); err != nil {
		return nil, err
	}
	roster = roster[:min(len(roster), tasks.MostOwners(l.ann.Task))]
	if err := l.tallySlot(ctx, s.Store, slot); err != nil {
		return nil, err
	}
	if err := l.assembleSlot(len(roster), l.ann.Leaned(len(roster), l.roster.Len())); err != nil {
		return nil, err
	}
	broadcast, err := l.core.Broadcast()
	if err != nil {
		return nil, err
	}
	helpers, err := secretsum.MeetQuorum(ctx, clients, patience, s.Log)
	if err != nil {
		return nil, err
	}
	secret, err := tasks.SecretSum(l.ann, broadcast, roster, helpers, last.Add(secretsum.Keep))
	if err != nil {
		return nil, err
	}
	signed, err := secret.Sign(s.Self)
	if err != nil {
		return nil, err
	}
	x, err := s.Store.Assemble(ctx, l.id, slot, store.Secret{
		Broadcast: broadcast, Sum: signed.Bytes, Certificate: signed.Signature.Certificate, Signature: signed.Signature.Value,
	})
	if err == nil {
		s.Log.Info("a slot's roster is fixed", "task", l.String(), "slot", slot, "owners", len(roster), "helpers",
			secretsum.Present(helpers))
	}
	return x, err
}

// assembleSlot assembles core's open slot, once.
func (l *live) assembleSlot(owners, honest int) error {
	if b, err := l.core.Broadcast(); b != nil || err != nil {
		return err
	}
	return l.core.Assemble(owners, honest)
}

// collectSum lets helpers open the sum, and stores it.
func (s *Server) collectSum(ctx context.Context, l *live, slot int, x *store.Secret, clients []*secretsum.Client,
	until time.Time) error {
	parsed, err := secretsum.Parse(x.Sum)
	if err != nil {
		return err
	}
	if parsed.Collector != s.Self.Caller { // helpers would answer no one else
		return errOthers
	}
	c := &secretsum.Collection{
		Sum: parsed, Signed: secretsum.Signed{Bytes: x.Sum,
			Signature: identity.Signature{Certificate: x.Certificate, Value: x.Signature}},
		Clients: clients, Patience: patience,
		Wait: func(ctx context.Context, progress func(context.Context) []int) error {
			return s.awaitShares(ctx, l, parsed, progress, until)
		},
		Admission: &secretsum.Admission{Announcement: l.signed.Text, Signature: l.signed.Signature, List: l.roster},
		Found: func(f secretsum.Fault) {
			key := ""
			if f.Participant >= 0 {
				key = fmt.Sprintf("%x", parsed.Roster[f.Participant])
			}
			s.Log.Warn("a participant deviated from the protocol of a secret sum, and is left out", "task", l.String(), "slot", slot,
				"key", key, "who", f.String())
		},
		Keep: func(ctx context.Context, held [][]byte) ([][]byte, error) {
			kept := x.Held
			if held != nil {
				if kept, err = s.Store.Hold(ctx, l.id, slot, secretsum.Pack(held)); err != nil {
					return nil, err
				}
			}
			return secretsum.Unpack(kept)
		},
	}
	total, owners, err := c.Run(ctx)
	if err != nil {
		return err
	}
	return s.Store.Total(ctx, l.id, slot, encodeNumbers(total), len(owners))
}

// awaitShares waits until one of these holds: every participating helper has every owner's share; a
// quorum has enough of them and none has arrived for the task's quiet time; the time is over.
func (s *Server) awaitShares(ctx context.Context, l *live, x *secretsum.Sum, progress func(context.Context) []int,
	until time.Time) error {
	t := time.NewTicker(pollShares)
	defer t.Stop()
	var before []int
	news, shut := s.clock.lastReading().open, never
	for {
		stored, open := progress(ctx), s.clock.lastReading()
		full := true
		for h, n := range stored {
			full = full && (n == len(x.Roster) || x.Helpers[h].Memory == secretsum.Memory{})
		}
		if !slices.Equal(stored, before) {
			before, news = stored, open.open
		}
		sorted := slices.Sorted(slices.Values(stored))
		enough := sorted[len(sorted)/3] // a quorum has as many or more
		if enough < 0 {                 // owners cannot give their shares to a quorum
			shut = open.open
		}
		open.since = min(open.since, open.open-shut)
		l.mu.Lock()
		l.shares = max(0, enough)
		l.mu.Unlock()
		if full || !s.Now().Before(until) || l.ann.Quiet > 0 && enough >= x.AtLeast && open.isQuiet(news, l.ann.Quiet) {
			return context.Cause(ctx)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// receiveSum passes the stored sum of the open slot to core.
func (l *live) receiveSum(ctx context.Context, s *store.Store) error {
	x, err := s.Secret(ctx, l.id, l.computed)
	if err != nil {
		return err
	}
	if x == nil || x.Total == nil {
		return fmt.Errorf("aggregator: slot %d has no sum", l.computed)
	}
	asked, err := wire.ParseRound(l.ann.Task, x.Broadcast)
	if err != nil {
		return err
	}
	if err := l.assembleSlot(asked.Crowd.Owners, asked.Crowd.Honest); err != nil {
		return err
	}
	total := make([]uint64, len(x.Total)/8)
	for i := range total {
		total[i] = binary.LittleEndian.Uint64(x.Total[8*i:])
	}
	return l.core.ReceiveSum(total, x.Participants)
}

// encodeNumbers encodes a sum with eight bytes per number.
func encodeNumbers(total []uint64) (b []byte) {
	for _, v := range total {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
