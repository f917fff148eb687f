// SPDX-License-Identifier: Apache-2.0

// Package places bounds what callers hold of a service at a time: calls, memory, and
// the patience of who reads a body.
package places

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// mostWaiting is the number of calls that wait for a place, if nothing else is said; a quarter of
// them may be one caller's.
const (
	mostWaiting = 2048
	waitingPart = 4
)

var (
	// ErrTooMany refuses a call if too many calls of its caller wait already.
	ErrTooMany = errors.New("as many calls of this caller wait as may")
	// ErrBusy refuses a call that found no place in time.
	ErrBusy = errors.New("there is no place for this call now")
)

// Places bounds what is read and worked on at a time of some calls: how many, and
// how much memory they take together. The next free place goes to the caller that
// holds the fewest, to its first call that fits; no caller holds more than its share.
type Places[C comparable] struct {
	calls    int
	memory   int64
	part     int
	room     int // how many calls wait at most
	patience time.Duration

	mu      sync.Mutex
	taken   load
	of      map[C]*holder
	waiting int
	full    bool // see WasFull
}

// New makes places for so many calls at a time, at least one, that take so many bytes
// of memory together; 0: as many as there are. A caller holds at most one part-th of
// both, so that the calls of others never wait for it alone. A call waits for patience
// before it is refused.
func New[C comparable](calls int, memory int64, part int, patience time.Duration) *Places[C] {
	return &Places[C]{calls: calls, memory: memory, part: part, room: mostWaiting, patience: patience,
		of: map[C]*holder{}}
}

// LimitWaiting makes room for so many calls that wait. It is for before the first call.
func (p *Places[C]) LimitWaiting(room int) { p.room = room }

// load is calls, and the memory they take.
type load struct {
	calls  int
	memory int64
}

func (l *load) addCall(memory int64)    { l.calls++; l.memory += memory }
func (l *load) removeCall(memory int64) { l.calls--; l.memory -= memory }

// fitsBelow reports whether there is room for one more below the limits.
func (l load) fitsBelow(memory int64, calls int, most int64) bool {
	return l.calls < calls && (most == 0 || l.memory+memory <= most)
}

// holder is a caller that holds places or waits for them.
type holder struct {
	load
	waiting []*ticket // in order
}

// ticket is a call that waits.
type ticket struct {
	memory  int64
	since   time.Time
	granted chan struct{}
}

// Place is a call's place, until it leaves. It is for one goroutine.
type Place[C comparable] struct {
	p    *Places[C]
	who  C
	held *ticket // nil if it has none any more
}

// Share is the most that one caller may hold; memory 0: as much as there is.
func (p *Places[C]) Share() (calls int, memory int64) {
	return max(1, p.calls/p.part), p.memory / int64(p.part)
}

// Standing returns the numbers of calls that hold a place and that wait for one.
func (p *Places[C]) Standing() (held, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken.calls, p.waiting
}

// Take waits for a place for a call that takes so much memory. It fails with
// ErrTooMany, ErrBusy or ctx's error. A call of more memory than a caller's share
// takes all of that share.
func (p *Places[C]) Take(ctx context.Context, who C, memory int64) (*Place[C], error) {
	place := &Place[C]{p: p, who: who}
	return place, place.take(ctx, memory)
}

// Resize makes the place one of so much memory. Where there is not as much, the place
// is given up while the call waits for one, so that no one who holds memory waits for
// more. It fails as Take does, and the call has no place then.
func (pl *Place[C]) Resize(ctx context.Context, memory int64) error { return pl.take(ctx, memory) }

// Memory is the memory that the place is for.
func (pl *Place[C]) Memory() int64 { return pl.held.memory }

// Leave gives the place back, if there is one.
func (pl *Place[C]) Leave() {
	pl.p.mu.Lock()
	defer pl.p.mu.Unlock()
	pl.drop()
	pl.p.forgetCaller(pl.who)
	pl.p.grantPlaces()
}

// drop gives the place up, if there is one. p.mu is held.
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

// grantPlaces gives free places to those who wait. p.mu is held.
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

// leaveQueue takes a call out of the queue. It reports false if the call has got its
// place meanwhile. late: it has waited as long as calls wait.
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

// forgetCaller drops a caller that holds nothing and waits for nothing. p.mu is held.
func (p *Places[C]) forgetCaller(who C) {
	if h := p.of[who]; h != nil && h.calls == 0 && len(h.waiting) == 0 {
		delete(p.of, who)
	}
}

// WasFull reports whether a call waits, or was refused since WasFull was asked last,
// for want of a place that its caller might hold: not everyone could be heard.
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
