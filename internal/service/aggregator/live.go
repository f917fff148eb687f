// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	core "github.com/discreet-dp/discreet/internal/federated/collect"
	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/tasks"
)

// live is a task in memory. What it says of the open slot is what the store said
// last; the store decides.
type live struct {
	id      store.ID
	ann     *tasks.Announcement
	signed  tasks.Signed
	placing *wire.Placing
	roster  tasks.Roster // who may report; nil: anyone who has a key

	mu       sync.RWMutex
	state    store.State
	slot     int
	asked    *wire.Round // of the open slot, once there is a broadcast
	laws     []response.Law
	text     []byte        // the broadcast
	secret   *store.Secret // of the open slot, in mode aggregate once it is sealed
	shares   int           // that a quorum of helpers has, when asked last
	deadline time.Time
	// Reports of the open slot: how many, what the clock showed when it was looked
	// at after the last had come or the slot had begun, whether some have come since,
	// and when the store was asked last.
	stored  int
	news    time.Duration
	fresh   bool
	counted time.Time

	results

	gathering atomic.Bool // a goroutine sees a secret sum through

	// Of the goroutine that moves the task alone.
	core     *core.Aggregator
	computed int       // slots that core has closed
	retry    time.Time // of a secret sum that failed
}

// results are what everyone may know of the slots that are closed. They are stored,
// for every process to tell, also when the reports are gone.
type results struct {
	Outcomes []core.Outcome `json:"outcomes"`
	Reach    float64        `json:"reach"` // see core.Aggregator.Reach; 0 before the first slot is closed
}

// noteCore is what core can tell, as text.
func (l *live) noteCore() ([]byte, error) {
	return json.Marshal(results{l.core.Outcomes(), l.core.Reach()})
}

func readNote(text []byte) (r results, err error) {
	if text != nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// accuracyEstimate is the one error that is an accuracy: that of the first round, whose
// records weigh alike. It is nil before that round and if no one reported.
func (r *results) accuracyEstimate() *core.Outcome {
	if len(r.Outcomes) == 0 || !(r.Outcomes[0].ErrNoise > 0) {
		return nil
	}
	return &r.Outcomes[0]
}

// loadTask makes a task of what the store holds about it.
func loadTask(t store.Task) (*live, error) {
	signed := tasks.Signed{Text: t.Bytes, Signature: identity.Signature{Certificate: t.Certificate, Value: t.Signature}}
	ann, err := tasks.Parse(t.Bytes)
	if err != nil {
		return nil, err
	}
	l := &live{id: t.ID, ann: ann, signed: signed, state: t.State, slot: -1}
	l.placing, err = ann.Task.Placing()
	return l, err
}

// readRoster reads the list of the task's owners, or shares it with another task.
func (l *live) readRoster(ctx context.Context, s *store.Store, others []*live) error {
	if !l.ann.Roster.Named() {
		return nil
	}
	for _, o := range others {
		if o.ann.Roster == l.ann.Roster {
			l.roster = o.roster
			return nil
		}
	}
	keys, err := s.Roster(ctx, l.ann.Roster)
	if err != nil {
		return err
	}
	l.roster, err = tasks.RosterOf(keys)
	return err
}

// refreshState takes over what the store says.
func (l *live) refreshState(ctx context.Context, s *store.Store) error {
	t, r, err := s.Task(ctx, l.id)
	if err != nil {
		return err
	}
	n, err := s.Count(ctx, l.id, r.Number)
	if err != nil {
		return err
	}
	var secret *store.Secret
	if l.isSecret() && r.State == store.Sealed {
		if secret, err = s.Secret(ctx, l.id, r.Number); err != nil {
			return err
		}
	}
	text, err := s.Noted(ctx, l.id)
	if err != nil {
		return err
	}
	results, err := readNote(text)
	if err != nil {
		return err
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Number < l.slot { // read before someone else refreshed
		return nil
	}
	l.results = results
	l.state = max(l.state, t.State)
	if r.Number > l.slot {
		l.slot, l.asked, l.laws, l.text, l.deadline = r.Number, nil, nil, nil, r.Deadline
		l.secret, l.shares = nil, 0
		l.stored, l.fresh = n, true
		if !l.isSecret() {
			if err := l.showBroadcast(r.Broadcast); err != nil {
				return err
			}
		}
	}
	if secret != nil && l.secret == nil {
		if err := l.showBroadcast(secret.Broadcast); err != nil {
			return err
		}
		l.secret = secret
	}
	l.recountReports(n, now)
	return nil
}

// isSecret reports whether owners give nothing but shares.
func (l *live) isSecret() bool { return l.ann.Task.Mode == wire.Aggregate }

// showBroadcast takes the broadcast of the open slot. l.mu is held.
func (l *live) showBroadcast(broadcast []byte) error {
	asked, err := wire.ParseRound(l.ann.Task, broadcast)
	if err != nil {
		return err
	}
	if !l.isSecret() {
		for i := range max(1, len(asked.Asks)) {
			law, err := l.ann.Task.Law(asked.Cells(l.ann.Task, i))
			if err != nil {
				return err
			}
			l.laws = append(l.laws, law)
		}
	}
	l.asked, l.text = asked, broadcast
	return nil
}

// recountReports takes over how many reports of the open slot the store holds. l.mu is
// held.
func (l *live) recountReports(n int, now time.Time) {
	l.counted = now
	if n != l.stored {
		l.stored, l.fresh = n, true
	}
}

// countReports asks the store how many reports the slot has. It reports whether others
// than this process have stored some.
func (l *live) countReports(ctx context.Context, s *store.Store, slot int) (news bool, err error) {
	n, err := s.Count(ctx, l.id, slot)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slot != slot {
		return true, nil
	}
	news = n != l.stored
	l.recountReports(n, time.Now())
	return news, nil
}

// due is what time it is for a task.
type due int

const (
	waiting due = iota
	quiet       // nothing has come for long enough, and the minimum is there
	overdue     // the slot's time is up
	ended       // the task's is
)

// dueNow says what time it is, by both clocks, and for which slot.
func (l *live) dueNow(now time.Time, open reading) (int, due) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh {
		l.news, l.fresh = open.open, false
	}
	switch {
	case !now.Before(l.ann.Ends):
		return l.slot, ended
	case !now.Before(l.deadline):
		return l.slot, overdue
	case l.ann.Quiet > 0 && l.stored >= l.ann.Minimum && open.isQuiet(l.news, l.ann.Quiet):
		return l.slot, quiet
	}
	return l.slot, waiting
}

// computeNext counts the reports of every slot up to the sealed one, and returns what
// follows: the next broadcast, or the model.
func (l *live) computeNext(ctx context.Context, s *store.Store, sealed int) (broadcast, file []byte, err error) {
	if err := l.tallySlot(ctx, s, sealed+1); err != nil {
		return nil, nil, err
	}
	if l.computed < l.ann.Task.Slots() {
		broadcast, err = l.core.Broadcast()
		return broadcast, nil, err
	}
	m, err := l.core.Model(core.Statement{})
	if err != nil {
		return nil, nil, err
	}
	file, err = model.Marshal(m)
	return nil, file, err
}

// tallySlot brings core to the slot: it counts what the slots before have brought.
func (l *live) tallySlot(ctx context.Context, s *store.Store, slot int) (err error) {
	if l.core == nil {
		if l.core, err = core.New(l.ann.Task); err != nil {
			return err
		}
		l.computed = 0
	}
	defer func() {
		if err != nil { // half-counted: begin again
			l.core = nil
		}
	}()
	for ; l.computed < slot; l.computed++ {
		if l.isSecret() {
			err = l.receiveSum(ctx, s)
		} else {
			err = s.Reports(ctx, l.id, l.computed, func(_ [32]byte, body []byte) error { return l.core.Receive(body) })
		}
		if err != nil {
			return err
		}
		if err := l.core.Close(); err != nil {
			return err
		}
	}
	return nil
}

// slotDeadline is when a slot that opens now closes at the latest.
func (l *live) slotDeadline(now time.Time) time.Time {
	if d := now.Add(l.ann.Slot); d.Before(l.ann.Ends) {
		return d
	}
	return l.ann.Ends
}

func (l *live) String() string { return fmt.Sprintf("%x", l.id[:6]) }
