// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/model"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// live is a task in memory. Its state of the open slot is a copy of the store's, which is
// authoritative.
type live struct {
	id      store.ID
	ann     *tasks.Announcement
	signed  tasks.Signed
	placing *wire.Placing
	roster  tasks.Roster // owners who may report; nil: any owner with a key

	mu       sync.RWMutex
	state    store.State
	slot     int
	asked    *wire.Round // of the open slot, once there is a broadcast
	laws     []response.Law
	text     []byte        // the broadcast
	secret   *store.Secret // of the open slot, in mode aggregate once sealed
	shares   int           // number that a quorum of helpers has, at the last check
	deadline time.Time
	// Reports of the open slot: their number, the clock's reading at the first check after the last
	// one arrived or the slot began, whether some have arrived since, and the time of the last check.
	stored  int
	news    time.Duration
	fresh   bool
	counted time.Time

	results

	gathering atomic.Bool // a goroutine is collecting a secret sum

	// Used only by the goroutine that moves the task.
	core     *core.Aggregator
	computed int       // number of slots that core has closed
	retry    time.Time // time for the next attempt at a failed secret sum
}

// results are the public results of the closed slots. They are stored, so that every process can
// report them, even after the reports have been deleted.
type results struct {
	Outcomes []core.Outcome `json:"outcomes"`
	Reach    float64        `json:"reach"` // see core.Aggregator.Reach; 0 before the first slot is closed
}

// noteCore returns the results of core as text.
func (l *live) noteCore() ([]byte, error) {
	return json.Marshal(results{l.core.Outcomes(), l.core.Reach()})
}

func readNote(text []byte) (r results, err error) {
	if text != nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// accuracyEstimate returns the only error that corresponds to an accuracy: that of the first round, in
// which all records have equal weight. It is nil before that round and if no owner reported.
func (r *results) accuracyEstimate() *core.Outcome {
	if len(r.Outcomes) == 0 || !(r.Outcomes[0].ErrNoise > 0) {
		return nil
	}
	return &r.Outcomes[0]
}

// loadTask makes a task from its data in the store.
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

// readRoster reads the list of the task's owners, or reuses that of another task.
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

// refreshState copies the state from the store.
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

// isSecret reports whether owners send only shares.
func (l *live) isSecret() bool { return l.ann.Task.Mode == wire.Aggregate }

// showBroadcast sets the broadcast of the open slot. l.mu must be held.
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

// recountReports sets the number of stored reports in the open slot. l.mu must be held.
func (l *live) recountReports(n int, now time.Time) {
	l.counted = now
	if n != l.stored {
		l.stored, l.fresh = n, true
	}
}

// countReports reads the number of reports in a slot from the store. It reports whether other
// processes have stored some.
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

// due is the reason why a task can move on.
type due int

const (
	waiting due = iota
	quiet       // no report has arrived for long enough, and the minimum is reached
	overdue     // the slot's time is over
	ended       // the task's time is over
)

// dueNow returns whether a task can move on, by both clocks, and for which slot.
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

// computeNext counts the reports of every slot up to the sealed one, and returns the next broadcast or
// the model.
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

// tallySlot brings core to the slot by counting the reports of all slots before it.
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

// slotDeadline returns the latest time at which a slot that opens now closes.
func (l *live) slotDeadline(now time.Time) time.Time {
	if d := now.Add(l.ann.Slot); d.Before(l.ann.Ends) {
		return d
	}
	return l.ann.Ends
}

func (l *live) String() string { return fmt.Sprintf("%x", l.id[:6]) }
