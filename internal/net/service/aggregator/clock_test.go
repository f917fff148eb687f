// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// watched is a clock whose watch, places and store a test turns.
type watched struct {
	*clock
	at     time.Time
	full   bool
	broken bool
	probed []int
}

func newWatched() *watched {
	w := &watched{at: time.Unix(1e9, 0)}
	w.clock = newClock(func() time.Time { return w.at }, func() bool { return w.full },
		func(_ context.Context, room int) error {
			w.probed = append(w.probed, room)
			if w.broken {
				return errors.New("full")
			}
			return nil
		})
	w.moveClock(context.Background())
	return w
}

// pass lets so much time pass, a tenth of a second after the other.
func (w *watched) pass(d time.Duration) reading {
	var r reading
	for range d / (100 * time.Millisecond) {
		w.at = w.at.Add(100 * time.Millisecond)
		r = w.moveClock(context.Background())
	}
	return r
}

// TestQuietTimeRunsWhileOpen: quiet time is over when nothing has come for so long
// while reports could have been accepted; what cuts it short makes owners come back,
// and lasts longer than they take.
func TestQuietTimeRunsWhileOpen(t *testing.T) {
	const quiet = 3 * time.Second
	for name, c := range map[string]struct {
		outage func(*watched)
		wait   time.Duration // from then on, until it is over
	}{
		"nothing happens": {func(*watched) {}, quiet},
		"the store fails": {func(w *watched) {
			w.noteFailed()
			w.broken = true
			w.pass(18 * time.Second)
			w.broken = false
			w.pass(time.Second)
		}, returning},
		"a transaction fails": {func(w *watched) { w.noteStoring(100)(errors.New("full")); w.pass(2 * time.Second) },
			returning - time.Second},
		"a transaction takes long": {func(w *watched) { w.noteStoring(100); w.pass(18 * time.Second) }, never},
		"a transaction has taken long": {func(w *watched) {
			done := w.noteStoring(100)
			w.pass(18 * time.Second)
			done(nil)
		}, returning},
		"no places":           {func(w *watched) { w.full = true; w.pass(18 * time.Second); w.full = false }, returning},
		"no room for reports": {func(w *watched) { w.noteMissing() }, returning},
		"nobody looks": {func(w *watched) { w.at = w.at.Add(time.Hour); w.moveClock(context.Background()) },
			quiet - step},
		"a short transaction": {func(w *watched) { w.noteStoring(100)(nil) }, quiet},
	} {
		w := newWatched()
		news := w.pass(time.Minute).open
		c.outage(w)
		if w.lastReading().isQuiet(news, quiet) {
			t.Errorf("%s: it is quiet at once", name)
		}
		if c.wait == never {
			if w.pass(time.Minute).isQuiet(news, quiet) {
				t.Errorf("%s: it is quiet meanwhile", name)
			}
			continue
		}
		if w.pass(c.wait-300*time.Millisecond).isQuiet(news, quiet) {
			t.Errorf("%s: it is quiet %s later", name, c.wait-300*time.Millisecond)
		}
		if !w.pass(600*time.Millisecond).isQuiet(news, quiet) {
			t.Errorf("%s: it is not quiet %s later", name, c.wait+300*time.Millisecond)
		}
	}
	w := newWatched()
	w.noteMissing()
	news := w.pass(time.Second).open
	if w.pass(time.Minute-2*time.Second).isQuiet(news, time.Minute) || !w.pass(3*time.Second).isQuiet(news, time.Minute) {
		t.Error("a quiet time longer than owners take to come back does not begin anew after an outage")
	}
}

// TestStoreIsTriedWithWhatItLacked: a store that failed is tried once a second with
// as many bytes as it could not keep, until it keeps them or others.
func TestStoreIsTriedWithWhatItLacked(t *testing.T) {
	w := newWatched()
	w.broken = true
	w.noteStoring(100_000)(errors.New("full"))
	w.noteFailed()
	w.pass(3 * time.Second)
	if len(w.probed) < 2 || len(w.probed) > 3 || w.probed[0] != 100_000 {
		t.Errorf("tried with %d bytes", w.probed)
	}
	if err := w.checkReady(t.Context()); err == nil || w.probed[len(w.probed)-1] != 100_000 {
		t.Errorf("a full store is ready (%v), tried with %d bytes", err, w.probed)
	}
	w.broken = false
	w.pass(2 * time.Second)
	n := len(w.probed)
	w.pass(5 * time.Second)
	if len(w.probed) != n {
		t.Error("a store that works is tried")
	}
	if err := w.checkReady(t.Context()); err != nil || w.probed[n] != leastRoom {
		t.Errorf("a store that works: %v, tried with %d bytes", err, w.probed)
	}
	w.noteStoring(100_000)(errors.New("full"))
	w.noteStoring(100)(nil)
	w.pass(5 * time.Second)
	if len(w.probed) != n+1 {
		t.Error("a store that has kept reports since is tried")
	}
}

// TestHelpersAwayAreNotQuiet: owners who cannot give their shares to a quorum of
// helpers, because these are away or full, are waited for until they can come back; one
// helper that is gone for good keeps no one waiting.
func TestHelpersAwayAreNotQuiet(t *testing.T) {
	size.OnlyLong(t, "waits in real time for helpers that are away")
	for name, c := range map[string]struct {
		meanwhile []int
		seconds   int // until it is quiet, at least
		most      int
	}{
		"a quorum is away": {[]int{-1, -1, 7}, 2 + 6 + 10, 2 + 6 + 13},
		"one is away":      {[]int{-1, 7, 7}, 2 + 3, 2 + 5},
	} {
		w := newWatched()
		s := &Server{Params: Params{Now: func() time.Time { return time.Unix(1e9, 0) }}, clock: w.clock}
		l := &live{ann: &tasks.Announcement{Quiet: 3 * time.Second}}
		x := &secretsum.Sum{AtLeast: 6, Roster: make([]secretsum.Key, 9),
			Helpers: []secretsum.Helper{{Memory: secretsum.Memory{1}}, {Memory: secretsum.Memory{1}},
				{Memory: secretsum.Memory{1}}}}
		passed := 0
		progress := func(context.Context) []int {
			passed++
			w.pass(time.Second)
			if passed > 2 && passed <= 8 {
				return c.meanwhile
			}
			return []int{7, 7, 7}
		}
		if err := s.awaitShares(t.Context(), l, x, progress, time.Unix(2e9, 0)); err != nil {
			t.Fatal(err)
		}
		if passed < c.seconds || passed > c.most {
			t.Errorf("%s: it was quiet after %d seconds, want %d to %d", name, passed, c.seconds, c.most)
		}
	}
}
