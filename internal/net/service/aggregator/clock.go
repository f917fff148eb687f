// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"math"
	"sync"
	"time"
)

// A task's quiet time runs only while reports can be accepted; otherwise owners would lose because the
// store was unavailable. It is therefore measured by the time during which this process was open for
// reports, and not by a watch.
const (
	// step is the most time that counts between two updates: a process that was not updated, or could
	// not update, was not open.
	step = time.Second
	// slow is how long the store may take to store reports before it counts as unavailable.
	slow = 2 * time.Second
	// returning is the shortest quiet time after an outage: twice the interval at which owners retry.
	returning = 10 * time.Second
	// probing is the interval at which a failed store is tried again.
	probing = time.Second
	// A store is ready if it has space for leastRoom bytes. A store that has failed must have space
	// for the reports that it could not store, each with a page of its own and of its index, up to
	// mostRoom.
	leastRoom = 4 << 10
	perReport = 8 << 10
	mostRoom  = 4 << 20
)

// never is earlier than all times of a clock.
const never time.Duration = math.MinInt64 / 2

// clock measures how long reports could be accepted.
type clock struct {
	now func() time.Time // monotonic clock of the process, which operators cannot set back
	// full reports whether uploads failed for lack of space since its last call.
	full func() bool
	// probe fails if the store could not store the given number of bytes.
	probe func(ctx context.Context, room int) error

	mu     sync.Mutex
	last   time.Time     // time of the last update
	open   time.Duration // total time in which reports could be accepted
	shut   time.Duration // value of open when they last could not
	missed bool          // reports have been refused since last
	away   bool          // the store failed, and has not worked since
	tried  time.Time     // time of the last attempt since then
	room   int           // bytes that it lacked
	began  time.Time     // start times of stores in progress
}

// reading is a reading of the clock: how long reports could be accepted in total, and since the last
// outage.
type reading struct{ open, since time.Duration }

// isQuiet reports whether the quiet time is over if the last report arrived when the clock showed
// news.
func (r reading) isQuiet(news, quiet time.Duration) bool {
	return r.open-news >= quiet && r.since >= max(quiet, returning)
}

// newClock returns a clock without an outage.
func newClock(now func() time.Time, full func() bool, probe func(context.Context, int) error) *clock {
	return &clock{now: now, full: full, probe: probe, shut: never}
}

// lastReading returns the latest reading of the clock.
func (c *clock) lastReading() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readClock()
}

// moveClock updates the clock.
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

// readClock returns the reading of the clock. c.mu must be held.
func (c *clock) readClock() reading { return reading{c.open, c.open - c.shut} }

// noteStoring records that the store is given reports, until the returned function is called with the
// result.
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

// noteFailed records another failure of the store.
func (c *clock) noteFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failRoom(0)
}

// failRoom records a failure. c.mu must be held.
func (c *clock) failRoom(room int) {
	if !c.away {
		c.tried = c.now()
	}
	c.away, c.missed, c.room = true, true, max(c.room, room, leastRoom)
}

// noteMissing records that reports were refused for lack of space, or that this process continues for
// one that has ended: the owners must send them again.
func (c *clock) noteMissing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missed = true
}

// healStore tries a failed store again, at intervals.
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

// checkReady fails if the store could not store reports now.
func (c *clock) checkReady(ctx context.Context) error {
	c.mu.Lock()
	room := max(c.room, leastRoom)
	c.mu.Unlock()
	return c.probe(ctx, room)
}
