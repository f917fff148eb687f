// SPDX-License-Identifier: Apache-2.0

package places

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// queued is a call on its way to a place.
type queued struct {
	place  *Place[string]
	ticket *ticket
}

// ask queues a call, which may get its place at once.
func ask(t *testing.T, p *Places[string], name string, memory int64) queued {
	t.Helper()
	q := queued{&Place[string]{p: p, who: name}, &ticket{memory: memory, since: time.Now(), granted: make(chan struct{})}}
	if err := q.place.queueCall(q.ticket); err != nil {
		t.Fatal(err)
	}
	return q
}

// giveBack gives back a place that was granted.
func (q queued) giveBack() {
	q.place.held = q.ticket
	q.place.Leave()
}

func (q queued) leaveQueue(late bool) bool { return q.place.p.leaveQueue(q.place.who, q.ticket, late) }

func (q queued) has() bool {
	select {
	case <-q.ticket.granted:
		return true
	default:
		return false
	}
}

// TestPlacesAreShared: no certificate holds more than a quarter of the places, or of
// their memory; a free place goes to who holds the fewest, then to who came first.
func TestPlacesAreShared(t *testing.T) {
	p := New[string](8, 800, 4, time.Hour)
	var greedy []queued
	for range 20 {
		greedy = append(greedy, ask(t, p, "greedy", 1))
	}
	if !greedy[0].has() || !greedy[1].has() || greedy[2].has() {
		t.Fatal("a certificate alone holds another number of places than a quarter of eight")
	}
	if p.WasFull() {
		t.Error("a certificate that waits for itself is counted as one that others keep waiting")
	}
	heavy := []queued{ask(t, p, "heavy", 150), ask(t, p, "heavy", 150)}
	if !heavy[0].has() || heavy[1].has() {
		t.Error("a certificate holds more than a quarter of the memory")
	}
	var others []queued
	for _, name := range []string{"a", "b", "c"} {
		q := ask(t, p, name, 1)
		if !q.has() {
			t.Errorf("%s waits while places are free", name)
		}
		others = append(others, q)
	}
	a2, b2, c2, late := ask(t, p, "a", 1), ask(t, p, "b", 1), ask(t, p, "c", 1), ask(t, p, "late", 1)
	if !a2.has() || !b2.has() || c2.has() || late.has() {
		t.Fatal("eight places are not given in the order of asking")
	}
	if !p.WasFull() {
		t.Error("somebody waits for others, and the places were never full")
	}
	others[0].giveBack()
	if c2.has() || !late.has() {
		t.Error("the free place did not go to who holds none")
	}
	greedy[0].giveBack()
	if c2.has() || !greedy[2].has() {
		t.Error("the free place did not go to the first of two who hold one")
	}
	if late.leaveQueue(true) {
		t.Error("who has a place gave it up")
	}
	if !heavy[1].leaveQueue(true) {
		t.Error("who waits cannot give up")
	}
}

// TestPlacesNeverOverflow asks and leaves at random: the limits hold at every
// moment, and no one waits while there is room.
func TestPlacesNeverOverflow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 14))
	p := New[string](7, 700, 4, time.Hour)
	var all []queued
	for range 20_000 {
		if n := len(all); n > 0 && r.IntN(2) == 0 {
			i := r.IntN(n)
			q := all[i]
			all[i] = all[n-1]
			all = all[:n-1]
			if !q.has() && q.leaveQueue(true) {
				continue
			}
			q.giveBack()
		} else if n < 60 {
			all = append(all, ask(t, p, string(rune('a'+r.IntN(6))), 1+r.Int64N(175)))
		}
		var taken load
		of := map[string]load{}
		for _, q := range all {
			if q.has() {
				h := of[q.place.who]
				h.addCall(q.ticket.memory)
				of[q.place.who] = h
				taken.addCall(q.ticket.memory)
			}
		}
		if taken != p.taken || taken.calls > 7 || taken.memory > 700 {
			t.Fatalf("%+v are taken, %+v by the books, of 7 places and 700 bytes", taken, p.taken)
		}
		for who, h := range of {
			if h.calls > 1 || h.memory > 175 || h != p.of[who].load {
				t.Fatalf("%s holds %+v, %+v by the books, of 1 place and 175 bytes", who, h, p.of[who].load)
			}
		}
	}
	for _, q := range all {
		if q.has() || !q.leaveQueue(false) {
			q.giveBack()
		}
	}
	if len(p.of) != 0 || p.waiting != 0 || p.taken != (load{}) {
		t.Errorf("when all have left, %d callers, %d who wait and %+v are left", len(p.of), p.waiting, p.taken)
	}
}

// TestPatienceEnds: who waits too long learns that the service is busy, who brings
// too many that they are too many, and who leaves gets no place.
func TestPatienceEnds(t *testing.T) {
	p := New[string](1, 0, 4, time.Millisecond)
	first, err := p.Take(t.Context(), "first", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Take(t.Context(), "second", 1); !errors.Is(err, ErrBusy) {
		t.Errorf("who waits in vain gets %v", err)
	}
	if !p.WasFull() || p.WasFull() {
		t.Error("one call was turned away, once")
	}
	p.patience = time.Hour
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if place, err := p.Take(gone, "second", 1); !errors.Is(err, context.Canceled) || place.held != nil {
		t.Errorf("who has gone gets %v and %v", place, err)
	}
	for range mostWaiting / waitingPart {
		ask(t, p, "many", 1)
	}
	if _, err := p.Take(t.Context(), "many", 1); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more than a caller's calls may wait gets %v", err)
	}
	first.Leave()
	first.Leave() // a second time changes nothing
	if held, waiting := p.Standing(); held != 1 || waiting != mostWaiting/waitingPart-1 {
		t.Errorf("%d hold a place and %d wait, want 1 and %d", held, waiting, mostWaiting/waitingPart-1)
	}
}

// TestSmallCallsPassLargeOnes: a call that fits does not wait for one of the same caller
// that does not.
func TestSmallCallsPassLargeOnes(t *testing.T) {
	p := New[string](8, 100, 1, time.Hour)
	large, next, small := ask(t, p, "a", 80), ask(t, p, "a", 80), ask(t, p, "a", 20)
	if !large.has() || next.has() || !small.has() {
		t.Errorf("large %v, next large %v and small %v have a place", large.has(), next.has(), small.has())
	}
	large.giveBack()
	if !next.has() {
		t.Error("the next large one waits still")
	}
}

// TestPlacesAreResized: a place shrinks at once, grows if there is room, and is given
// up while its call waits for more.
func TestPlacesAreResized(t *testing.T) {
	p := New[string](2, 100, 1, time.Hour)
	one, err := p.Take(t.Context(), "a", 60)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Resize(t.Context(), 10); err != nil || p.taken != (load{1, 10}) {
		t.Errorf("shrunk: %v, %+v", err, p.taken)
	}
	other := ask(t, p, "b", 80)
	if !other.has() {
		t.Fatal("what was given back is not free")
	}
	third := ask(t, p, "c", 1)
	if err := one.Resize(t.Context(), 15); err != nil || third.has() {
		t.Errorf("a place that grows where there is room goes to another call: %v", err)
	}
	if !third.leaveQueue(false) {
		t.Fatal("there was a third place")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := one.Resize(t.Context(), 30); err != nil {
			t.Errorf("grown after a wait: %v", err)
		}
	})
	for _, waiting := p.Standing(); waiting == 0; _, waiting = p.Standing() {
		runtime.Gosched()
	}
	if held, _ := p.Standing(); held != 1 {
		t.Errorf("%d places are held while their call waits for memory", held)
	}
	other.giveBack()
	wg.Wait()
	if p.taken != (load{1, 30}) || one.Memory() != 30 {
		t.Errorf("grown: %+v, %d", p.taken, one.Memory())
	}
	p.patience = time.Millisecond
	hog := ask(t, p, "b", 70)
	if err := one.Resize(t.Context(), 40); !errors.Is(err, ErrBusy) {
		t.Errorf("no room to grow: %v", err)
	}
	one.Leave()
	hog.giveBack()
	if p.taken != (load{}) || len(p.of) != 0 {
		t.Errorf("when all have left, %+v and %d callers are left", p.taken, len(p.of))
	}
}

// TestFullQueuesKeepNobodyOut: one who fills the queue does not keep out another for whom
// there is a place.
func TestFullQueuesKeepNobodyOut(t *testing.T) {
	p := New[string](4, 0, 2, time.Hour)
	p.LimitWaiting(4)
	for _, name := range []string{"a", "a", "a", "b", "c"} { // two of a and b have places, and one of c
		ask(t, p, name, 1)
	}
	if held, waiting := p.Standing(); held != 4 || waiting != 1 {
		t.Fatalf("%d hold a place and %d wait", held, waiting)
	}
	if _, err := p.Take(t.Context(), "a", 1); !errors.Is(err, ErrTooMany) {
		t.Errorf("a second one of a that waits: %v", err)
	}
	full := New[string](4, 0, 2, time.Hour)
	full.LimitWaiting(1)
	for range 3 {
		ask(t, full, "a", 1)
	}
	if q := ask(t, full, "b", 1); !q.has() {
		t.Error("a full queue keeps out a call for which there is a place")
	}
}
