// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/problem"
)

func named(name string) identity.Caller { return identity.Caller{Role: identity.Owner, Name: name} }

// queued is a call on its way to a place.
type queued struct {
	who    identity.Caller
	ticket *ticket
}

// ask queues a call, which may get its place at once.
func (p *Places) ask(t *testing.T, name string, memory int64) queued {
	t.Helper()
	q := queued{named(name), &ticket{memory: memory, since: time.Now(), granted: make(chan struct{})}}
	if refused := p.queueCall(q.who, q.ticket); refused != nil {
		t.Fatal(refused)
	}
	return q
}

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
	p := NewPlaces(8, 800)
	var greedy []queued
	for range 20 {
		greedy = append(greedy, p.ask(t, "greedy", 1))
	}
	if !greedy[0].has() || !greedy[1].has() || greedy[2].has() {
		t.Fatal("a certificate alone holds another number of places than a quarter of eight")
	}
	if p.WasFull() {
		t.Error("a certificate that waits for itself is counted as one that others keep waiting")
	}
	heavy := []queued{p.ask(t, "heavy", 150), p.ask(t, "heavy", 150)}
	if !heavy[0].has() || heavy[1].has() {
		t.Error("a certificate holds more than a quarter of the memory")
	}
	var others []queued
	for _, name := range []string{"a", "b", "c"} {
		q := p.ask(t, name, 1)
		if !q.has() {
			t.Errorf("%s waits while places are free", name)
		}
		others = append(others, q)
	}
	a2, b2, c2, late := p.ask(t, "a", 1), p.ask(t, "b", 1), p.ask(t, "c", 1), p.ask(t, "late", 1)
	if !a2.has() || !b2.has() || c2.has() || late.has() {
		t.Fatal("eight places are not given in the order of asking")
	}
	if !p.WasFull() {
		t.Error("somebody waits for others, and the places were never full")
	}
	p.giveBack(others[0].who, others[0].ticket)
	if c2.has() || !late.has() {
		t.Error("the free place did not go to who holds none")
	}
	p.giveBack(greedy[0].who, greedy[0].ticket)
	if c2.has() || !greedy[2].has() {
		t.Error("the free place did not go to the first of two who hold one")
	}
	if p.leaveQueue(late.who, late.ticket, true) {
		t.Error("who has a place gave it up")
	}
	if !p.leaveQueue(heavy[1].who, heavy[1].ticket, true) {
		t.Error("who waits cannot give up")
	}
}

// TestPlacesNeverOverflow asks and leaves at random: the limits hold at every
// moment, and nobody waits while there is room.
func TestPlacesNeverOverflow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 14))
	p := NewPlaces(7, 700)
	var all []queued
	for range 20_000 {
		if n := len(all); n > 0 && r.IntN(2) == 0 {
			i := r.IntN(n)
			q := all[i]
			all[i] = all[n-1]
			all = all[:n-1]
			if !q.has() && p.leaveQueue(q.who, q.ticket, true) {
				continue
			}
			p.giveBack(q.who, q.ticket)
		} else if n < 60 {
			all = append(all, p.ask(t, string(rune('a'+r.IntN(6))), 1+r.Int64N(175)))
		}
		var taken load
		of := map[identity.Caller]load{}
		for _, q := range all {
			if q.has() {
				h := of[q.who]
				h.addCall(q.ticket.memory)
				of[q.who] = h
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
		if q.has() || !p.leaveQueue(q.who, q.ticket, false) {
			p.giveBack(q.who, q.ticket)
		}
	}
	if len(p.of) != 0 || p.waiting != 0 || p.taken != (load{}) {
		t.Errorf("when all have left, %d callers, %d who wait and %+v are left", len(p.of), p.waiting, p.taken)
	}
}

// TestPatienceEnds: who waits too long is told that the service is busy, who brings
// too many that they are too many, and who leaves is told nothing.
func TestPatienceEnds(t *testing.T) {
	p := NewPlaces(1, 0)
	leave, _ := p.takePlace(t.Context(), named("first"), 1)
	p.patience = time.Millisecond
	if _, refused := p.takePlace(t.Context(), named("second"), 1); refused == nil || refused.Kind != problem.Overloaded {
		t.Errorf("who waits in vain is told %v", refused)
	}
	if !p.WasFull() || p.WasFull() {
		t.Error("one call was turned away, once")
	}
	p.patience = time.Hour
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if leave, refused := p.takePlace(gone, named("second"), 1); leave != nil || refused != nil {
		t.Error("who has gone got an answer")
	}
	for range mostOfOne {
		p.ask(t, "many", 1)
	}
	if _, refused := p.takePlace(t.Context(), named("many"), 1); refused == nil || refused.Kind != problem.TooMany {
		t.Errorf("one more than a certificate's calls may wait is told %v", refused)
	}
	leave()
	if held, waiting := p.Standing(); held != 1 || waiting != mostOfOne-1 {
		t.Errorf("%d hold a place and %d wait, want 1 and %d", held, waiting, mostOfOne-1)
	}
}

// TestMemoryOfMessages: a message counts by what it announces; one that is packed,
// or does not say, as the largest.
func TestMemoryOfMessages(t *testing.T) {
	for name, c := range map[string]struct {
		header [2]string
		length int64
		want   int64
	}{
		"announced":  {[2]string{"Content-Type", "application/proto"}, 100, 100 * cost},
		"identity":   {[2]string{"Content-Encoding", "identity"}, 100, 100 * cost},
		"packed":     {[2]string{"Content-Encoding", "gzip"}, 100, 1000 * cost},
		"by gRPC":    {[2]string{"Grpc-Encoding", "gzip"}, 100, 1000 * cost},
		"by stream":  {[2]string{"Connect-Content-Encoding", "gzip"}, 100, 1000 * cost},
		"no length":  {[2]string{"Content-Type", "application/grpc"}, -1, 1000 * cost},
		"no message": {[2]string{"Content-Type", "application/proto"}, 0, 0},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(""))
		r.ContentLength = c.length
		r.Header.Set(c.header[0], c.header[1])
		if got := memoryOf(r, 1000); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
