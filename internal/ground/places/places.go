// SPDX-License-Identifier: Apache-2.0

// Package places limits the simultaneous use of a service by callers: calls, memory, and the time for
// reading bodies.
package places

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// mostWaiting is the default number of calls that may wait for a place; one caller may have a quarter
// of them.
const (
	mostWaiting = 2048
	waitingPart = 4
)

var (
	// ErrTooMany refuses a call if its caller already has too many waiting calls.
	ErrTooMany = errors.New("as many calls of this caller wait as may")
	// ErrBusy refuses a call that did not get a place in time.
	ErrBusy = errors.New("there is no place for this call now")
)

// Places limits the simultaneous calls of some kinds: their number, and their total memory. The next
// free place goes to the caller with the fewest places, for its first call that fits. No caller holds
// more than its share.
type Places[C comparable] struct {
	calls    int
	memory   int64
	part     int
	room     int // maximum number of waiting calls
	patience time.Duration

	mu      sync.Mutex
	taken   load
	of      map[C]*holder
	waiting int
	full    bool // see WasFull
}

// New makes places for the given number of simultaneous calls, at least one, with the given total
// memory in bytes; 0: unlimited. A caller holds at most one part-th of both, so that the calls of
// others never wait for it alone. A call that has waited for patience is refused.
func New[C comparable](calls int, memory int64, part int, patience time.Duration) *Places[C] {
	return &Places[C]{calls: calls, memory: memory, part: part, room: mostWaiting, patience: patience,
		of: map[C]*holder{}}
}

// LimitWaiting sets the maximum number of waiting calls. It must be called before the first call.
func (p *Places[C]) LimitWaiting(room int) { p.room = room }

// load is a number of calls, and their memory.
type load struct {
	calls  int
	memory int64
}

func (l *load) addCall(memory int64)    { l.calls++; l.memory += memory }
func (l *load) removeCall(memory int64) { l.calls--; l.memory -= memory }

// fitsBelow reports whether one more call fits below the limits.
func (l load) fitsBelow(memory int64, calls int, most int64) bool {
	return l.calls < calls && (most == 0 || l.memory+memory <= most)
}

// holder is a caller that holds or waits for places.
type holder struct {
	load
	waiting []*ticket // in order
}

// ticket is a waiting call.
type ticket struct {
	memory  int64
	since   time.Time
	granted chan struct{}
}

// Place is a call's place, until it leaves. It must be used by one goroutine only.
type Place[C comparable] struct {
	p    *Places[C]
	who  C
	held *ticket // nil if the call no longer has a place
}

// Share returns the most that one caller may hold; memory 0 means unlimited.
func (p *Places[C]) Share() (calls int, memory int64) {
	return max(1, p.calls/p.part), p.memory / int64(p.part)
}

// Standing returns the numbers of calls that hold a place and of calls that wait for one.
func (p *Places[C]) Standing() (held, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken.calls, p.waiting
}

// Take waits for a place for a call with the given memory. It fails with ErrTooMany, ErrBusy or ctx's
// error. A call with more memory than a caller's share takes all of that share.
func (p *Places[C]) Take(ctx context.Context, who C, memory int64) (*Place[C], error) {
	place := &Place[C]{p: p, who: who}
	return place, place.take(ctx, memory)
}

// Resize changes the memory of the place. If too little is free, the call gives up its place while it
// waits for another, so that no caller holds memory while waiting for more. It fails as Take does, and
// the call then has no place.
func (pl *Place[C]) Resize(ctx context.Context, memory int64) error { return pl.take(ctx, memory) }

// Memory returns the memory of the place.
func (pl *Place[C]) Memory() int64 { return pl.held.memory }

// Leave releases the place, if there is one.
func (pl *Place[C]) Leave() {
	pl.p.mu.Lock()
	defer pl.p.mu.Unlock()
	pl.drop()
	pl.p.forgetCaller(pl.who)
	pl.p.grantPlaces()
}

// drop releases the place, if there is one. p.mu must be held.
func (pl *Place[C]) drop() {
	if pl.held == nil {
		return
	}
	pl.p.of[pl.who].removeCall(pl.held.memory)
	pl.p.taken.removeCall(pl.held.memory)
	pl.held = nil
}

func (pl *Place[C]) take(ctx context.Context, memory int64) error {
	p := pl.p
	t := &ticket{memory: memory, since: time.Now(), granted: make(chan struct{})}
	if _, most := p.Share(); most > 0 {
		t.memory = min(memory, most)
	}
	if err := pl.queueCall(t); err != nil {
		return err
	}
	select {
	case <-t.granted: // at once
		pl.held = t
		return nil
	default:
	}
	wait := time.NewTimer(p.patience)
	defer wait.Stop()
	select {
	case <-t.granted:
	case <-wait.C:
		if p.leaveQueue(pl.who, t, true) {
			return ErrBusy
		}
	case <-ctx.Done():
		if p.leaveQueue(pl.who, t, false) {
			return ctx.Err()
		}
	}
	pl.held = t
	return nil
}

func (pl *Place[C]) queueCall(t *ticket) error {
	p := pl.p
	p.mu.Lock()
	defer p.mu.Unlock()
	pl.drop()
	h := p.of[pl.who]
	if h == nil {
		h = &holder{}
		p.of[pl.who] = h
	}
	calls, memory := p.Share()
	switch {
	case h.fitsBelow(t.memory, calls, memory) && p.taken.fitsBelow(t.memory, p.calls, p.memory):
		// Those who wait need more than there is, or than this call had and may keep.
		h.addCall(t.memory)
		p.taken.addCall(t.memory)
		close(t.granted)
		p.grantPlaces()
		return nil
	case len(h.waiting) >= max(1, p.room/waitingPart):
		return ErrTooMany
	case p.waiting >= p.room:
		p.forgetCaller(pl.who)
		p.full = true
		return ErrBusy
	}
	h.waiting = append(h.waiting, t)
	p.waiting++
	p.grantPlaces()
	return nil
}

// grantPlaces gives free places to waiting calls. p.mu must be held.
func (p *Places[C]) grantPlaces() {
	calls, memory := p.Share()
	for p.waiting > 0 {
		var next *holder
		var first int
		for _, h := range p.of {
			i := slices.IndexFunc(h.waiting, func(t *ticket) bool {
				return h.fitsBelow(t.memory, calls, memory) && p.taken.fitsBelow(t.memory, p.calls, p.memory)
			})
			if i >= 0 && (next == nil || h.calls < next.calls ||
				h.calls == next.calls && h.waiting[i].since.Before(next.waiting[first].since)) {
				next, first = h, i
			}
		}
		if next == nil {
			return
		}
		t := next.waiting[first]
		next.waiting = slices.Delete(next.waiting, first, first+1)
		next.addCall(t.memory)
		p.taken.addCall(t.memory)
		p.waiting--
		close(t.granted)
	}
}

// leaveQueue removes a call from the queue. It returns false if the call has got its place meanwhile.
// late is set if the call has waited for the full patience.
func (p *Places[C]) leaveQueue(who C, t *ticket, late bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.of[who]
	i := slices.Index(h.waiting, t)
	if i < 0 {
		return false
	}
	h.waiting = slices.Delete(h.waiting, i, i+1)
	p.waiting--
	if calls, memory := p.Share(); late && h.fitsBelow(t.memory, calls, memory) {
		p.full = true
	}
	p.forgetCaller(who)
	p.grantPlaces() // it may have been in the way of others
	return true
}

// forgetCaller removes a caller without held places and waiting calls. p.mu must be held.
func (p *Places[C]) forgetCaller(who C) {
	if h := p.of[who]; h != nil && h.calls == 0 && len(h.waiting) == 0 {
		delete(p.of, who)
	}
}

// WasFull reports whether a call is waiting, or was refused since the last call of WasFull, for lack
// of a place that its caller might hold.
func (p *Places[C]) WasFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.full
	p.full = false
	calls, memory := p.Share()
	for _, h := range p.of {
		full = full || slices.ContainsFunc(h.waiting, func(t *ticket) bool {
			return h.fitsBelow(t.memory, calls, memory)
		})
	}
	return full
}
