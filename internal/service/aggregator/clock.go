// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"math"
	"sync"
	"time"
)

// A task's quiet time runs only while reports could have been accepted, or owners
// would pay for a store that was away. So it is not taken from a watch, but from the
// time that this process was open.
const (
	// step is the most that counts between two looks: whoever was not looked at,
	// or not able to look, was not open.
	step = time.Second
	// slow is the longest time that the store may take for reports before it counts as away.
	slow = 2 * time.Second
	// returning is the shortest quiet time after reports could not be
	// accepted: twice as long as owners wait between two tries.
	returning = 10 * time.Second
	// probing is the interval at which a store that failed is tried.
	probing = time.Second
	// A store is ready that has room for leastRoom bytes; one that has failed, for as
	// many reports as it could not keep, each on a page of its own and of its index,
	// though not for more than mostRoom.
	leastRoom = 4 << 10
	perReport = 8 << 10
	mostRoom  = 4 << 20
)

// never is before all times of a clock.
const never time.Duration = math.MinInt64 / 2

// clock tells for how long reports could have been accepted.
type clock struct {
	now func() time.Time // the process's own, that no operator sets back
	// full reports whether uploads waited in vain since it was asked last.
	full func() bool
	// probe fails if the store would not keep so many bytes.
	probe func(ctx context.Context, room int) error

	mu     sync.Mutex
	last   time.Time     // looked at
	open   time.Duration // for so long reports could have been accepted
	shut   time.Duration // what open was when they last could not
	missed bool          // since last
	away   bool          // the store failed, and has not been seen to work since
	tried  time.Time     // the store, since then
	room   int           // that it lacked
	began  time.Time     // of the reports that are being stored; zero: none are
}

// reading is what the clock shows: for how long reports could have been accepted,
// and for how much of that since they could not.
type reading struct{ open, since time.Duration }

// isQuiet reports whether so much quiet time is over if nothing has come since the
// clock showed news.
func (r reading) isQuiet(news, quiet time.Duration) bool {
	return r.open-news >= quiet && r.since >= max(quiet, returning)
}

// newClock is a clock that was never shut.
func newClock(now func() time.Time, full func() bool, probe func(context.Context, int) error) *clock {
	return &clock{now: now, full: full, probe: probe, shut: never}
}

// lastReading is the latest reading of the clock.
func (c *clock) lastReading() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readClock()
}

// moveClock moves the clock on.
func (c *clock) moveClock(ctx context.Context) reading {
	c.healStore(ctx)
	full := c.full()
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.missed = c.missed || c.away || full || !c.began.IsZero() && now.Sub(c.began) > slow
	switch {
	case c.missed:
		c.shut = c.open
	case !c.last.IsZero():
		c.open += min(step, now.Sub(c.last))
	}
	c.last, c.missed = now, false
	return c.readClock()
}

// readClock returns the reading of the clock. c.mu is held.
func (c *clock) readClock() reading { return reading{c.open, c.open - c.shut} }

// noteStoring notes that the store is given reports, until the returned function is
// called with what became of them.
func (c *clock) noteStoring(room int) func(error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = c.now()
	return func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.missed = c.missed || c.now().Sub(c.began) > slow
		c.began = time.Time{}
		if err != nil {
			c.failRoom(room)
		} else {
			c.away, c.room = false, 0
		}
	}
}

// noteFailed notes that the store has failed otherwise.
func (c *clock) noteFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failRoom(0)
}

// failRoom notes a failure. c.mu is held.
func (c *clock) failRoom(room int) {
	if !c.away {
		c.tried = c.now()
	}
	c.away, c.missed, c.room = true, true, max(c.room, room, leastRoom)
}

// noteMissing notes that reports were refused for want of room, or that the process begins
// where another has ended: their owners have to come back.
func (c *clock) noteMissing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missed = true
}

// healStore tries a store that has failed, once in a while.
func (c *clock) healStore(ctx context.Context) {
	c.mu.Lock()
	now, room := c.now(), c.room
	due := c.away && now.Sub(c.tried) >= probing
	if due {
		c.tried = now
	}
	c.mu.Unlock()
	if due && c.probe(ctx, room) == nil {
		c.mu.Lock()
		c.away, c.missed, c.room = false, true, 0
		c.mu.Unlock()
	}
}

// checkReady fails if the store would not keep reports now.
func (c *clock) checkReady(ctx context.Context) error {
	c.mu.Lock()
	room := max(c.room, leastRoom)
	c.mu.Unlock()
	return c.probe(ctx, room)
}
