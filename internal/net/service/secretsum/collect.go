// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// meetHelpers asks all helpers at once for the names of their stores. It returns when all have
// answered, or when ctx ends. Helpers that have not answered have the zero Memory in the list, and do
// not take part; the reasons are returned in the same order.
func meetHelpers(ctx context.Context, clients []*Client) ([]Helper, []error) {
	out, errs := make([]Helper, len(clients)), make([]error, len(clients))
	eachClient(clients, func(h int, c *Client) {
		out[h].Name = c.name
		if out[h].Memory, errs[h] = c.Self(ctx); errs[h] != nil {
			c.log.Warn("a helper cannot be asked", "helper", c.name, "error", errs[h])
		}
	})
	return out, errs
}

// MeetQuorum meets helpers until enough have answered to open a sum. In each attempt it waits for the
// others for patience. If ctx ends first, the error wraps its cause. If too many have a wrong
// identity, the error wraps their *identity.MisfitErrors.
func MeetQuorum(ctx context.Context, clients []*Client, patience time.Duration, log *slog.Logger) ([]Helper, error) {
	need := len(clients) - len(clients)/3 // secsum's quorum
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		one, cancel := context.WithTimeout(ctx, patience)
		helpers, errs := meetHelpers(one, clients)
		cancel()
		n := Present(helpers)
		if n >= need {
			return helpers, nil
		}
		few := func(err error) error {
			return fmt.Errorf("%d of %d helpers answer, at least %d must: %w", n, len(clients), need, err)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, few(err)
		}
		misfits := slices.DeleteFunc(errs, func(err error) bool { return !errors.As(err, new(*identity.MisfitError)) })
		if len(clients)-len(misfits) < need {
			return nil, few(errors.Join(misfits...))
		}
		log.Warn("too few helpers answer", "present", n, "of", len(clients), "need", need)
		_ = problem.Pause(ctx, wait) // the next turn returns ctx's cause
	}
}

// Present returns the number of helpers that take part.
func Present(helpers []Helper) (n int) {
	for _, h := range helpers {
		if h.Memory != (Memory{}) {
			n++
		}
	}
	return n
}

// eachClient calls f for every client concurrently, and waits.
func eachClient(clients []*Client, f func(h int, c *Client)) {
	var wg sync.WaitGroup
	for h, c := range clients {
		wg.Go(func() { f(h, c) })
	}
	wg.Wait()
}

// Collection is a collector's process of opening a sum. Every step may be repeated by a process that
// starts again with the same Signed and a durable Keep.
type Collection struct {
	Sum     *Sum
	Signed  Signed
	Clients []*Client // of Sum.Helpers, in order
	// Patience is how long to wait for helpers that do not answer, once a quorum has.
	Patience time.Duration
	// Wait returns when the collector should stop waiting for shares. progress asks the helpers for
	// their numbers of shares, -1 if one does not answer.
	Wait func(ctx context.Context, progress func(context.Context) []int) error
	// Admission is what helpers require for an aggregator's sum; nil for other collectors.
	Admission *Admission
	// Found is called, before anything is opened, with each participant or helper that has deviated
	// from the protocol; may be nil. Another attempt may repeat a call.
	Found func(Fault)
	// Keep durably stores, before anything is opened, the data that determine the owners in the sum
	// and what their proofs determine about it. It returns the data that were stored first. nil: a
	// process that dies loses the sum.
	Keep func(ctx context.Context, held [][]byte) ([][]byte, error)
}

// Run begins the sum at the helpers, waits for shares, ends the wait, and opens the sum. It returns
// the sum of the listed participants' vectors. If too few helpers or participants are left, it returns
// a *secsum.Abort, and nothing has been opened. After any other error, including the end of ctx,
// another attempt is possible.
func (c *Collection) Run(ctx context.Context) (total []uint64, participants []int, err error) {
	p, err := c.Sum.Protocol()
	if err != nil {
		return nil, nil, err
	}
	id, err := c.Sum.ID()
	if err != nil {
		return nil, nil, err
	}
	var held [][]byte
	if c.Keep != nil {
		if held, err = c.Keep(ctx, nil); err != nil {
			return nil, nil, err
		}
	}
	if held == nil {
		if held, err = c.gatherHeld(ctx, p, id); err != nil {
			return nil, nil, err
		}
		collector, ask, err := c.replayHeld(p, held)
		if err != nil {
			return nil, nil, err
		}
		if err := c.showProofs(ctx, collector, id, ask); err != nil {
			return nil, nil, err
		}
		held = append(held, collector.Bound())
		if c.Keep != nil {
			if held, err = c.Keep(ctx, held); err != nil {
				return nil, nil, err
			}
		}
	}
	return c.openSum(ctx, p, id, held)
}

// gatherHeld begins the sum at all helpers, waits, and ends the wait.
func (c *Collection) gatherHeld(ctx context.Context, p *secsum.Protocol, id ID) (held [][]byte, err error) {
	beginning, stop := context.WithCancel(ctx)
	defer stop()
	var begun sync.WaitGroup
	for h, client := range c.Clients {
		if c.Sum.Helpers[h].Memory != (Memory{}) {
			begun.Go(func() {
				if err := client.Begin(beginning, c.Signed, c.Admission); err != nil && beginning.Err() == nil {
					client.log.Warn("a helper does not take part", "helper", client.name, "error", err)
				}
			})
		}
	}
	defer begun.Wait()
	defer stop()
	if err := c.Wait(ctx, func(ctx context.Context) []int {
		stored := make([]int, len(c.Clients))
		eachClient(c.Clients, func(h int, client *Client) {
			stored[h] = -1
			if c.Sum.Helpers[h].Memory == (Memory{}) {
				return
			}
			one, cancel := context.WithTimeout(ctx, c.Patience)
			defer cancel()
			if n, _, err := client.Progress(one, id); err == nil {
				stored[h] = n
			}
		})
		return stored
	}); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	said := make([]Held, len(c.Clients))
	held, err = c.askHelpers(ctx, secsum.Held, p.Quorum(),
		func(ctx context.Context, h int, client *Client) (secsum.Message, error) {
			one, err := client.Held(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				said[h] = one
			}
			return one.Message, err
		})
	if err == nil && c.Found != nil {
		mu.Lock()
		defer mu.Unlock()
		c.accuseDeviants(ctx, p, id, said)
	}
	return held, err
}

// askHelpers asks all participating helpers at once. Once a quorum has answered, the others have
// Patience. If so many refuse for good that no quorum is possible, the step aborts.
func (c *Collection) askHelpers(ctx context.Context, step secsum.Kind, quorum int,
	call func(context.Context, int, *Client) (secsum.Message, error)) ([][]byte, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var answers [][]byte
	var failed error
	left := Present(c.Sum.Helpers)
	eachClient(c.Clients, func(h int, client *Client) {
		if c.Sum.Helpers[h].Memory == (Memory{}) {
			return
		}
		m, err := call(waiting, h, client)
		var body []byte
		if err == nil && m.From != h {
			err = fmt.Errorf("sum: helper %s answers for another", client.name)
		}
		if err == nil {
			body, err = m.MarshalBinary()
		}
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			if answers = append(answers, body); len(answers) == quorum {
				impatience := time.AfterFunc(c.Patience, stop)
				context.AfterFunc(waiting, func() { impatience.Stop() })
			}
			return
		}
		failed = errors.Join(failed, err)
		if waiting.Err() == nil {
			if left--; left < quorum {
				stop()
			}
		}
	})
	switch {
	case len(answers) >= quorum:
		return answers, nil
	case left < quorum:
		return nil, errors.Join(&secsum.Abort{Waiting: step, Have: len(answers), Need: quorum}, failed)
	}
	return nil, failed
}

// replayHeld returns a collector that has processed the helpers' reports of held shares, and its next
// requests.
func (c *Collection) replayHeld(p *secsum.Protocol, held [][]byte) (*secsum.Collector, []secsum.Message, error) {
	collector := p.NewCollector()
	var ask []secsum.Message
	for _, b := range held {
		var m secsum.Message
		if err := m.UnmarshalBinary(b); err != nil {
			return nil, nil, err
		}
		follow, err := collector.Handle(m)
		if err != nil && !errors.Is(err, secsum.ErrRefused) {
			return nil, nil, err
		}
		ask = append(ask, follow...)
	}
	if len(ask) > 0 {
		return collector, ask, nil
	}
	ask, err := collector.Close()
	return collector, ask, err
}

// openSum replays the helpers' reports, sends the requests that follow, and adds up the answers that
// pass verification. The last element of held is what the owners' proofs determine.
func (c *Collection) openSum(ctx context.Context, p *secsum.Protocol, id ID, held [][]byte) ([]uint64, []int, error) {
	last := len(held) - 1
	collector, _, err := c.replayHeld(p, held[:max(0, last)])
	if err != nil {
		return nil, nil, err
	}
	follow, err := collector.Bind(held[last])
	if err != nil {
		return nil, nil, err
	}
	requests := map[int]secsum.Message{}
	for _, r := range follow {
		requests[r.To] = r
	}
	var mu sync.Mutex
	if _, err := c.askHelpers(ctx, secsum.Sum, p.Quorum(),
		func(ctx context.Context, h int, client *Client) (m secsum.Message, err error) {
			r, asked := requests[h]
			if !asked {
				return m, errLeftOut
			}
			if m, err = client.Open(ctx, id, r); err != nil {
				return m, err
			}
			mu.Lock()
			defer mu.Unlock()
			m.From = h // who it is has been seen by its certificate
			if _, err := collector.Handle(m); errors.Is(err, secsum.ErrRefused) {
				c.found(Fault{-1, client.name, lied})
				return m, fmt.Errorf("sum: helper %s: %w", client.name, err)
			}
			return m, nil // any other error is the collector's, of Sum
		}); err != nil {
		return nil, nil, err
	}
	total, participants, ok, err := collector.Sum()
	if err == nil && !ok {
		if _, err = collector.Close(); err == nil {
			total, participants, _, err = collector.Sum()
		}
	}
	return total, participants, err
}

// errLeftOut replaces the answer of a helper that has too few shares to be asked.
var errLeftOut = errors.New("sum: the helper is not asked")
