// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Aggregator runs one task: reports in, broadcasts out. It is not for several
// goroutines at once.
type Aggregator struct {
	task    *wire.Task
	text    []byte
	digest  wire.Digest
	placing *wire.Placing

	round   *wire.Round // nil when the task is done
	tallies []response.Tally
	laws    []response.Law
	addend  response.Addend       // mode aggregate, instead of laws and tallies
	total   []float64             // its estimate, nil before it has come
	added   int                   // owners in it
	spares  []int                 // per slot: how many of those in its sum may be dishonest
	seen    map[[16]byte][16]byte // of the slot: owner to report

	members []wire.Member // with their votes
	// marginals are the shares of all cells of each question, levels counted alike,
	// as its first round has them; nil before.
	marginals [][]float64
	prior     []float64 // logarithm of each level's share, centred; nil before round 1
	tables    []table   // of the round that waits for its error
	margin    float64   // of its candidate, as its tables have it, nats
	done      []Outcome
	reach     []float64 // per closed slot: what one report can do to a share of all records
}

// Outcome is the result of one round's reports. All of it is released.
type Outcome struct {
	Round    int     `json:"round"`  // from 1
	Tables   int64   `json:"tables"` // reports of the two slots, or owners in their sums
	Errors   int64   `json:"errors"`
	Err      float64 `json:"err"`       // estimated weighted error, each level of the label counting alike
	ErrNoise float64 `json:"err_noise"` // its standard deviation
	Vote     float64 `json:"vote"`      // 0: the member was dropped; its owners' budget stays spent
}

// New starts a task.
func New(task *wire.Task) (*Aggregator, error) {
	text, err := task.Text()
	if err != nil {
		return nil, err
	}
	if task, err = wire.ParseTask(text); err != nil {
		return nil, err
	}
	a := &Aggregator{task: task, text: text, marginals: make([][]float64, len(task.Questions))}
	if a.digest, err = task.Digest(); err != nil {
		return nil, err
	}
	if a.placing, err = task.Placing(); err != nil {
		return nil, err
	}
	asks := make([]wire.Ask, len(task.Questions))
	for q := range asks {
		asks[q].Question = q
	}
	return a, a.openSlot(&wire.Round{Slot: 0, Asks: asks})
}

// Task is the task's bytes, for owners to accept.
func (a *Aggregator) Task() []byte { return a.text }

// Broadcast is the bytes of the round that is open, nil when the task is done, or
// in mode aggregate before the slot is assembled.
func (a *Aggregator) Broadcast() ([]byte, error) {
	if a.round == nil || a.task.Mode == wire.Aggregate && a.round.Crowd == nil {
		return nil, nil
	}
	return a.round.Text(a.task)
}

// openSlot starts collecting for a slot.
func (a *Aggregator) openSlot(r *wire.Round) error {
	r.Task = a.digest.String()
	a.round, a.laws, a.tallies, a.seen = r, nil, nil, map[[16]byte][16]byte{}
	a.total, a.added = nil, 0
	if a.task.Mode == wire.Aggregate {
		return nil // until Assemble says who is there
	}
	for i := range max(1, len(r.Asks)) {
		law, err := a.task.Law(r.Cells(a.task, i))
		if err != nil {
			return err
		}
		a.laws = append(a.laws, law)
		a.tallies = append(a.tallies, response.NewTally(law))
	}
	return r.Check(a.task)
}

// What Receive refuses.
var (
	ErrDone      = errors.New("aggregator: the task takes no more reports")
	ErrOtherTask = errors.New("aggregator: the report is of another task")
	ErrLate      = errors.New("aggregator: the report is not of the open slot")
	ErrPlace     = errors.New("aggregator: the report is not what its owner is asked in this task")
	ErrTwice     = errors.New("aggregator: the owner has reported something else already")
)

// Receive counts a report. The same bytes again count once and are no error. It
// trusts nothing: a report of another task, slot or question than its owner's, a
// second one of its owner, and words that the law does not know are refused and
// change nothing.
func (a *Aggregator) Receive(report []byte) error {
	if a.round == nil || a.task.Mode == wire.Aggregate {
		return ErrDone
	}
	r, err := wire.ParseReport(report)
	if err != nil {
		return err
	}
	place := a.placing.Of(r.Owner)
	switch {
	case r.Task != a.digest:
		return ErrOtherTask
	case r.Slot != a.round.Slot:
		return ErrLate
	case r.Slot != place.Slot || r.Ask != a.round.Ask(place.Ticket):
		return ErrPlace
	}
	law := a.laws[r.Ask]
	if err := law.Check(r.Words); err != nil {
		return fmt.Errorf("aggregator: %w", err)
	}
	owner, content := shortID([]byte(r.Owner)), shortID(report)
	if before, ok := a.seen[owner]; ok {
		if before != content {
			return ErrTwice
		}
		return nil
	}
	a.seen[owner] = content
	law.Add(&a.tallies[r.Ask], r.Words)
	return nil
}

// shortID tells owners and reports apart; 2^64 tries would find two that agree.
func shortID(b []byte) [16]byte {
	h := sha256.Sum256(b)
	return [16]byte(h[:16])
}

// Received is the number of reports counted in the open slot.
func (a *Aggregator) Received() (n int64) {
	for _, t := range a.tallies {
		n += t.Reports
	}
	return n + int64(a.added)
}

// Close ends the open slot, however many reports came, and opens the next. The
// task is done after the last. Owners whose slot has passed are never asked
// again: a round that taught nothing has spent their budget.
func (a *Aggregator) Close() error {
	if a.round == nil {
		return ErrDone
	}
	a.reach = append(a.reach, a.reachNow())
	if a.round.IsError() {
		a.judgeCandidate()
		a.tables = nil
	} else {
		if err := a.learnCandidate(); err != nil {
			return err
		}
	}
	next := a.round.Slot + 1
	if next == a.task.Slots() {
		a.round, a.seen = nil, nil
		return nil
	}
	r := &wire.Round{Slot: next, Members: a.members}
	if !r.IsError() {
		r.Asks = a.listAsks()
	}
	return a.openSlot(r)
}

// Outcomes are the rounds that are over.
func (a *Aggregator) Outcomes() []Outcome { return a.done }
