// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/problem"
)

const (
	// part of all places, and of their memory, is the most that one certificate
	// holds: the others' calls never wait for it alone.
	part = 4
	// mostWaiting is how many calls wait for a place, and mostOfOne how many of
	// them are one certificate's.
	mostWaiting = 2048
	mostOfOne   = 512
	// Memory is what the calls of a service's places take together, in bytes: four
	// certificates' largest messages of 4 MiB.
	Memory = part * cost * 4 << 20
	// cost is how many bytes of memory a byte of a message takes at most while it
	// is read, parsed and answered; see bytesPerPart.
	cost = 8
)

// Places bounds what is read and worked on at a time of some calls: how many, and
// how much memory they take together. The next free place goes to the certificate
// that holds the fewest, and no certificate holds more than a quarter.
type Places struct {
	calls    int
	memory   int64
	patience time.Duration // how long a call waits before it is refused

	mu      sync.Mutex
	taken   load
	of      map[identity.Caller]*holder
	waiting int
	full    bool // see WasFull
}

// NewPlaces makes places for so many calls at a time, at least one, that take so
// many bytes of memory together; 0: as many as there are.
func NewPlaces(calls int, memory int64) *Places {
	return &Places{calls: calls, memory: memory, patience: 10 * time.Second, of: map[identity.Caller]*holder{}}
}

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

// holder is a certificate that holds places or waits for them.
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

// certificateShare is what one certificate may hold.
func (p *Places) certificateShare() (calls int, memory int64) {
	return max(1, p.calls/part), p.memory / part
}

// takePlace waits for a place for a call that takes so much memory, and returns what
// gives it back; or the problem, or nothing where ctx has ended. A call of more
// memory than a certificate's part takes all of that part.
func (p *Places) takePlace(ctx context.Context, who identity.Caller, memory int64) (leave func(),
	refused *problem.Problem) {
	t := &ticket{memory: memory, since: time.Now(), granted: make(chan struct{})}
	if _, most := p.certificateShare(); most > 0 {
		t.memory = min(memory, most)
	}
	if refused := p.queueCall(who, t); refused != nil {
		return nil, refused
	}
	wait := time.NewTimer(p.patience)
	defer wait.Stop()
	select {
	case <-t.granted:
	case <-wait.C:
		if p.leaveQueue(who, t, true) {
			return nil, problem.New(problem.Overloaded, "")
		}
	case <-ctx.Done():
		if p.leaveQueue(who, t, false) {
			return nil, nil
		}
	}
	return func() { p.giveBack(who, t) }, nil
}

func (p *Places) queueCall(who identity.Caller, t *ticket) *problem.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.of[who]
	if h == nil {
		h = &holder{}
		p.of[who] = h
	}
	switch {
	case len(h.waiting) >= mostOfOne:
		return problem.New(problem.TooMany, "%d calls of this certificate wait", mostOfOne)
	case p.waiting >= mostWaiting:
		p.forgetCaller(who)
		p.full = true
		return problem.New(problem.Overloaded, "")
	}
	h.waiting = append(h.waiting, t)
	p.waiting++
	p.grantPlaces()
	return nil
}

// grantPlaces gives free places to those who wait. p.mu is held.
func (p *Places) grantPlaces() {
	calls, memory := p.certificateShare()
	for p.waiting > 0 {
		var next *holder
		for _, h := range p.of {
			if len(h.waiting) == 0 || !h.fitsBelow(h.waiting[0].memory, calls, memory) ||
				!p.taken.fitsBelow(h.waiting[0].memory, p.calls, p.memory) {
				continue
			}
			if next == nil || h.calls < next.calls || h.calls == next.calls && h.waiting[0].since.Before(next.waiting[0].since) {
				next = h
			}
		}
		if next == nil {
			return
		}
		t := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.addCall(t.memory)
		p.taken.addCall(t.memory)
		p.waiting--
		close(t.granted)
	}
}

// leaveQueue takes a call out of the queue. It reports false where the call has got its
// place meanwhile. late: it has waited as long as calls wait.
func (p *Places) leaveQueue(who identity.Caller, t *ticket, late bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.of[who]
	i := slices.Index(h.waiting, t)
	if i < 0 {
		return false
	}
	h.waiting = slices.Delete(h.waiting, i, i+1)
	p.waiting--
	if calls, memory := p.certificateShare(); late && h.fitsBelow(t.memory, calls, memory) {
		p.full = true
	}
	p.forgetCaller(who)
	p.grantPlaces() // it may have been in the way of a smaller one
	return true
}

func (p *Places) giveBack(who identity.Caller, t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of[who].removeCall(t.memory)
	p.taken.removeCall(t.memory)
	p.forgetCaller(who)
	p.grantPlaces()
}

// forgetCaller drops a certificate that holds nothing and waits for nothing.
func (p *Places) forgetCaller(who identity.Caller) {
	if h := p.of[who]; h.calls == 0 && len(h.waiting) == 0 {
		delete(p.of, who)
	}
}

// WasFull reports whether a call waits, or was refused since WasFull was asked last,
// for want of a place that its certificate might hold: not everybody could be heard.
func (p *Places) WasFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.full
	p.full = false
	calls, memory := p.certificateShare()
	for _, h := range p.of {
		full = full || len(h.waiting) > 0 && h.fitsBelow(h.waiting[0].memory, calls, memory)
	}
	return full
}

// memoryOf is how much memory a call takes at most whose message has up to most
// bytes: known by what it announces, unless it is packed or does not say.
func memoryOf(r *http.Request, most int64) int64 {
	if r.ContentLength < 0 || isCompressed(r) {
		return cost * most
	}
	return cost * r.ContentLength
}

// isCompressed reports whether a request's message may be compressed.
func isCompressed(r *http.Request) bool {
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		if e := r.Header.Get(name); e != "" && e != "identity" {
			return true
		}
	}
	return false
}
