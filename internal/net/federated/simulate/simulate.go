// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"encoding/hex"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Params are the public choices of a simulation.
type Params struct {
	Mode       wire.Mode // "" for local
	Classifier wire.Classifier
	Mechanism  string // see collect.Params
	Epsilon    dp.Epsilon
	// Owners is the number of owners, who share the rows evenly, in order; 0: every row is an owner.
	// If the schema declares persons, each person is an owner, and no other number is allowed. An
	// owner of several rows reports about one that it draws.
	Owners int
	Rounds int // see collect.Params
	// Nonce is the task's nonce; "": a random one. Name returns the name of owner i; nil: its number.
	// With the nonce and the names of an announced task, and its owners' randomness, the simulation
	// makes the same model.
	Nonce string
	Name  func(i int) string
	// Source makes the randomness for one part of a simulation; it may be called concurrently. The
	// numbers of parts do not depend on the number of processors, so that a function of the number
	// makes the simulation reproducible. nil: the system's randomness.
	Source func(part int) rng.Source
	// Counted is set if a budget was charged, which the model then states.
	Counted bool
	// Progress receives the number of owners asked so far, one call at a time.
	Progress func(done, total int)
}

// Result contains everything that a simulation released.
type Result struct {
	Model  *model.Model
	Task   *wire.Task
	Rounds []collect.Outcome
	Owners int
	Asked  int     // number of owners who reported
	Reach  float64 // see collect.Reach
	params Params
}

// Nonce draws a task's nonce.
func Nonce(src rng.Source) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(rng.Below(src, 256))
	}
	return hex.EncodeToString(b[:])
}

// Run simulates one task on the rows of a table.
func Run(ctx context.Context, tab *dataset.Table, p Params) (*Result, error) {
	if p.Owners == 0 {
		p.Owners = tab.Rows
		if tab.Schema.Person != nil {
			_, p.Owners = tab.CountPersons()
		}
	}
	if p.Owners < 1 || p.Owners > tab.Rows {
		return nil, dp.Refuse("simulate", "owners", "must be at least 1 and at most the number of rows", p.Owners)
	}
	if p.Source == nil {
		p.Source = func(int) rng.Source { return rng.System() }
	}
	src := p.Source(0)
	if p.Nonce == "" {
		p.Nonce = Nonce(src)
	}
	if p.Name == nil {
		p.Name = strconv.Itoa
	}
	task, err := collect.Plan(collect.Params{
		Schema: tab.Schema, Mode: p.Mode, Classifier: p.Classifier, Mechanism: p.Mechanism, Epsilon: p.Epsilon,
		Owners: p.Owners, Rounds: p.Rounds, Nonce: p.Nonce,
	})
	if err != nil {
		return nil, err
	}
	agg, err := collect.New(task)
	if err != nil {
		return nil, err
	}
	terms, err := answer.Accept(agg.Task(), answer.Caps{Epsilon: p.Epsilon})
	if err != nil {
		return nil, err
	}
	recs, err := terms.Bind(tab)
	if err != nil {
		return nil, err
	}
	owners, err := answer.NewOwners(recs, p.Owners, p.Name, make(memory, p.Owners))
	if err != nil {
		return nil, err
	}
	crowd := &crowd{terms: terms, owners: owners, slots: make([][]int32, task.Slots()), p: p}
	for i := range p.Owners {
		s := owners.Place(i).Slot
		crowd.slots[s] = append(crowd.slots[s], int32(i))
	}
	for slot := range crowd.slots {
		if err := crowd.answerSlot(ctx, slot, agg); err != nil {
			return nil, err
		}
		if err := agg.Close(); err != nil {
			return nil, err
		}
	}
	m, err := agg.Model(collect.Statement{Counted: p.Counted, Seeded: src.Seeded()})
	return &Result{m, task, agg.Outcomes(), p.Owners, crowd.asked, agg.Reach(), p}, err
}

// crowd is all owners.
type crowd struct {
	terms  *answer.Terms
	owners *answer.Owners
	slots  [][]int32 // the owners of each slot
	asked  int
	parts  int // number of parts begun so far
	p      Params
}

// memory is the owners' book during a simulation: whether each has reported.
type memory []bool

func (m memory) Commit(_ context.Context, given []answer.Given) error {
	for _, g := range given {
		if m[g.Owner] {
			return fmt.Errorf("simulate: owner %d has given already", g.Owner)
		}
		m[g.Owner] = true
	}
	return nil
}

// batch is the number of owners per part.
const batch = 1024

// part is a group of owners who answer with the same source of randomness.
type part struct {
	number int
	ids    []int32
}

// answerSlot lets the owners of a slot answer its broadcast, and the aggregator count the answers. In
// mode aggregate the addends are added up here in the clear. Package secsum computes the same sum
// without revealing them.
func (c *crowd) answerSlot(ctx context.Context, slot int, agg *collect.Aggregator) error {
	ids := c.slots[slot]
	secret := c.p.Mode == wire.Aggregate
	if secret {
		if len(ids) < 2 { // a sum of one is no secret: the slot stays empty
			return nil
		}
		if err := agg.Assemble(len(ids), (len(ids)+1)/2); err != nil { // a sixth may be dishonest
			return err
		}
	}
	broadcast, err := agg.Broadcast()
	if err != nil {
		return err
	}
	round, err := c.terms.Read(broadcast)
	if err != nil {
		return err
	}
	first := c.parts + 1 // 0 is the aggregator's
	c.parts += (len(ids) + batch - 1) / batch
	type answers struct {
		owners  int
		reports []answer.Given
		sum     []uint64
		err     error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	todo, done := make(chan part), make(chan answers, 2)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			reporter := round.Reporter(c.owners)
			for some := range todo {
				a, exit := answers{owners: len(some.ids)}, mech.NewExit(c.p.Source(some.number))
				if secret {
					a.sum, a.err = reporter.SumAddends(some.ids, exit)
				} else {
					a.reports, a.err = reporter.Report(ctx, some.ids, exit)
				}
				select {
				case done <- a:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		defer close(done)
		defer wg.Wait()
		defer close(todo)
		for from := 0; from < len(ids); from += batch {
			select {
			case todo <- part{first + from/batch, ids[from:min(from+batch, len(ids))]}:
			case <-ctx.Done():
				return
			}
		}
	}()
	var total []uint64
	for a := range done {
		if a.err != nil {
			return a.err
		}
		if total == nil {
			total = make([]uint64, len(a.sum))
		}
		for j, v := range a.sum {
			total[j] += v
		}
		for _, r := range a.reports {
			if err := agg.Receive(r.Report); err != nil {
				return fmt.Errorf("simulate: %w", err)
			}
		}
		c.asked += a.owners
		if c.p.Progress != nil {
			c.p.Progress(c.asked, c.p.Owners)
		}
	}
	if err := ctx.Err(); err != nil || !secret {
		return err
	}
	return agg.ReceiveSum(total, len(ids))
}
