// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Aggregator runs one task: it receives reports and sends broadcasts. It is not safe for concurrent
// use.
type Aggregator struct {
	task    *wire.Task
	text    []byte
	digest  wire.Digest
	placing *wire.Placing

	round   *wire.Round // nil if the task is done
	tallies []response.Tally
	laws    []response.Law
	addend  response.Addend       // mode aggregate, instead of laws and tallies
	total   []float64             // estimate of the slot's sum, nil until it has arrived
	added   int                   // number of owners in it
	spares  []int                 // by slot: how many of the owners in its sum may be dishonest
	seen    map[[16]byte][16]byte // reports of the slot, by owner

	members []wire.Member // with their votes
	// marginals are the shares of all cells of each question in its first round, averaged over levels;
	// nil before that round.
	marginals [][]float64
	prior     []float64 // logarithm of each level's share, centred; nil before round 1
	tables    []table   // of the round whose error is not known yet
	margin    float64   // of its candidate, according to its tables, in nats
	done      []Outcome
	reach     []float64 // per closed slot: the largest influence of one report on a share of all records
}

// Outcome is the result of one round's reports. It is released as a whole.
type Outcome struct {
	Round    int     `json:"round"`  // from 1
	Tables   int64   `json:"tables"` // reports of the two slots, or owners in their sums
	Errors   int64   `json:"errors"`
	Err      float64 `json:"err"`       // estimated weighted error, averaged over the levels of the label
	ErrNoise float64 `json:"err_noise"` // its standard deviation
	Vote     float64 `json:"vote"`      // 0: the member was dropped; the budget of its owners stays spent
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

// Task returns the task's bytes, for owners to accept.
func (a *Aggregator) Task() []byte { return a.text }

// Broadcast returns the bytes of the open round. It returns nil if the task is done, and in mode
// aggregate until the slot is assembled.
func (a *Aggregator) Broadcast() ([]byte, error) {
	if a.round == nil || a.task.Mode == wire.Aggregate && a.round.Crowd == nil {
		return nil, nil
	}
	return a.round.Text(a.task)
}

// openSlot begins to collect reports for a slot.
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

// Reasons for which Receive refuses a report.
var (
	ErrDone      = errors.New("aggregator: the task takes no more reports")
	ErrOtherTask = errors.New("aggregator: the report is of another task")
	ErrLate      = errors.New("aggregator: the report is not of the open slot")
	ErrPlace     = errors.New("aggregator: the report is not what its owner is asked in this task")
	ErrTwice     = errors.New("aggregator: the owner has reported something else already")
)

// Receive counts a report. Receiving the same bytes again has no effect and is not an error. It
// assumes nothing about a report: it refuses one for another task, slot or question than its owner's,
// a second one of its owner, and words that the law does not have, and changes nothing.
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

// shortID identifies owners and reports; it takes 2^64 attempts to find two that collide.
func shortID(b []byte) [16]byte {
	h := sha256.Sum256(b)
	return [16]byte(h[:16])
}

// Received returns the number of reports counted in the open slot.
func (a *Aggregator) Received() (n int64) {
	for _, t := range a.tallies {
		n += t.Reports
	}
	return n + int64(a.added)
}

// Close closes the open slot, regardless of the number of reports, and opens the next. After the last
// slot the task is done. Owners of closed slots are never asked again, even if the round taught
// nothing: their budget is spent.
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

// Outcomes returns the outcomes of the finished rounds.
func (a *Aggregator) Outcomes() []Outcome { return a.done }
