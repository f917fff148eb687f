// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// TestHelperLost takes a helper away for good, at each step. The two others open
// the sum exactly.
func TestHelperLost(t *testing.T) {
	for _, when := range []string{"before", "begun", "shared", "held"} {
		t.Run(when, func(t *testing.T) {
			c := assemble(t, 3)
			if when == "before" {
				c.Kill(1)
			}
			col, id, p := c.begin(6, 4, "a")
			col.Patience = time.Second
			if away := col.Sum.Helpers[1].Memory == (secretsum.Memory{}); away != (when == "before") {
				t.Fatalf("the helper is away: %v", away)
			}
			alive := 2 // helpers that will have every share: those that are lost later among them
			if when == "shared" || when == "held" {
				alive = 3
			}
			full := given(6, alive)
			col.Wait = func(ctx context.Context, progress func(context.Context) []int) error {
				if when == "begun" {
					c.Kill(1)
				}
				err := full(ctx, progress)
				if when == "shared" {
					c.Kill(1)
				}
				return err
			}
			col.Keep = func(_ context.Context, held [][]byte) ([][]byte, error) {
				if held != nil && when == "held" {
					c.Kill(1)
				}
				return held, nil
			}
			total, of, err := c.run(col, id, p.shares)
			must(t, err)
			if !slices.Equal(total, p.total(of)) || len(of) != 6 {
				t.Errorf("%v of %v, want %v", total, of, p.total(of))
			}
		})
	}
}

// TestTooFewHelpers loses the memory of two helpers: the sum is aborted, nothing
// is opened, and it says so at once.
func TestTooFewHelpers(t *testing.T) {
	c := assemble(t, 3)
	col, _, _ := c.filled(6, 4, "a")
	for h := range 2 {
		c.Kill(h)
		c.Lose(h)
		c.Start(h)
	}
	col.Wait = func(context.Context, func(context.Context) []int) error { return nil }
	_, _, err := col.Run(t.Context())
	if few := (*secsum.Abort)(nil); !errors.As(err, &few) || few.Waiting != secsum.Held || few.Need != 2 {
		t.Errorf("err = %v, want too few helpers", err)
	}
}

// TestSumsWaitForCertificates has all helpers send their collector elsewhere for a
// while, as they would with certificates that have ended, once shares are theirs:
// what owners have spent is not given up, and the sum is opened when they are back.
func TestSumsWaitForCertificates(t *testing.T) {
	c := assemble(t, 3)
	col, _, p := c.filled(6, 4, "a")
	var wrong [3]atomic.Int32
	c.Wrap = func(helper int, h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if wrong[helper].Add(1)%2 == 1 {
				http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	for h := range 3 {
		c.Kill(h)
		c.Start(h)
	}
	col.Wait = func(context.Context, func(context.Context) []int) error { return nil }
	total, of, err := col.Run(t.Context())
	must(t, err)
	if len(of) != 6 || !slices.Equal(total, p.total(of)) {
		t.Errorf("%v of %v, want all six", total, of)
	}
}

// TestThirdOfParticipantsGone loses a third of the participants: before they share,
// or between two helpers. The sum is exact and over those who are left, as long as
// they are enough.
func TestThirdOfParticipantsGone(t *testing.T) {
	for _, gone := range []struct{ before, midway int }{{2, 0}, {0, 2}, {1, 1}, {3, 0}, {0, 3}} {
		c := assemble(t, 3)
		col, id, p := c.begin(6, 4, "a")
		col.Wait = given(6-gone.before-gone.midway, 3)
		for _, client := range col.Clients {
			must(t, client.Begin(t.Context(), col.Signed, nil))
		}
		owner := c.Clients(c.Identity(identity.Owner, "o"))
		midway := p.shares[gone.before : gone.before+gone.midway]
		secretsum.Deliver(t.Context(), id, owner[:1], midway)
		secretsum.Deliver(t.Context(), id, owner, p.shares[gone.before+gone.midway:])
		total, of, err := col.Run(t.Context())
		if left := 6 - gone.before - gone.midway; left >= 4 {
			must(t, err)
			if len(of) != left || of[0] != 6-left || !slices.Equal(total, p.total(of)) {
				t.Errorf("%+v: %v of %v, want %v", gone, total, of, p.total(of))
			}
		} else if few := (*secsum.Abort)(nil); !errors.As(err, &few) || total != nil {
			t.Errorf("%+v: %v, %v, want too few participants", gone, total, err)
		}
	}
}

// TestHelpersDie kills and starts helpers while participants deliver
// and the collector, which dies as well, collects. The sum is exact, and the same
// for every collector who asks.
func TestHelpersDie(t *testing.T) {
	c := assemble(t, 3)
	const n = 40
	col, id, p := c.begin(n, 30, "a")
	col.Patience = 30 * time.Second
	col.Wait = given(n, 3)
	var mu sync.Mutex
	var kept [][]byte
	keeps := 0
	col.Keep = func(_ context.Context, held [][]byte) ([][]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if held == nil {
			return kept, nil
		}
		if kept == nil {
			kept = held
		}
		if keeps++; keeps == 1 { // the collector dies before it has asked anyone
			return nil, errors.New("killed")
		}
		return kept, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for range 40 {
			h := r.IntN(3)
			c.Kill(h)
			c.Start(h)
			<-time.After(time.Duration(20+r.IntN(60)) * time.Millisecond)
		}
	})
	defer wg.Wait()
	clients := c.Clients(c.Identity(identity.Owner, "o"))
	for part := range slices.Chunk(p.shares, 5) { // each its own deliverer, twice
		for range 2 {
			wg.Go(func() { secretsum.Deliver(ctx, id, clients, part) })
		}
	}
	var first []uint64
	for try := 0; try < 4; {
		total, of, err := col.Run(ctx)
		if err != nil {
			if keeps > 1 || ctx.Err() != nil {
				t.Fatal(err)
			}
			continue
		}
		if len(of) != n || !slices.Equal(total, p.total(of)) {
			t.Errorf("%v of %d participants, want %v", total, len(of), p.total(of))
		}
		if first == nil {
			first = total
		}
		if !slices.Equal(first, total) {
			t.Error("another collector has another sum")
		}
		try++
	}
}

// TestCollectorDies stops a collector after some helpers have answered. The next
// one asks them for the same, though another helper has come back meanwhile, and
// gets the sum.
func TestCollectorDies(t *testing.T) {
	c := assemble(t, 3)
	col, _, p := c.filled(6, 4, "a")
	col.Patience = 200 * time.Millisecond
	col.Wait = func(context.Context, func(context.Context) []int) error { return nil }
	var kept [][]byte
	c.Kill(2)
	short, cancel := context.WithCancel(t.Context())
	defer cancel()
	col.Keep = func(_ context.Context, held [][]byte) ([][]byte, error) {
		if held != nil {
			if kept != nil {
				t.Error("it was decided twice whose sum is opened")
			}
			kept = held
			c.Kill(1)                                    // the collector hears of one helper only,
			time.AfterFunc(500*time.Millisecond, cancel) // and dies
		}
		return kept, nil
	}
	_, _, err := col.Run(short)
	if few := (*secsum.Abort)(nil); err == nil || errors.As(err, &few) {
		t.Fatalf("err = %v, want one to try again", err)
	}
	c.Start(1)
	c.Start(2)
	total, of, err := col.Run(t.Context())
	must(t, err)
	if len(of) != 6 || !slices.Equal(total, p.total(of)) {
		t.Errorf("%v of %v, want %v", total, of, p.total(of))
	}
}

// TestForgetting passes a sum's end: its shares are gone from the store, and
// nothing about it is answered, not even by a clock that is set back.
func TestForgetting(t *testing.T) {
	c := assemble(t, 3)
	col, id, _ := c.filled(6, 4, "a")
	shares := func(where string) (n int) {
		t.Helper()
		db, err := sqldb.Open(t.Context(), c.Store(0), sqldb.Options{Op: "test", WAL: true})
		must(t, err)
		defer db.Close()
		must(t, db.View(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Find([]any{&n}, `SELECT COUNT(*) FROM discreet_shares `+where)
			return err
		}))
		return n
	}
	if n := shares("WHERE body IS NOT NULL"); n != 6 {
		t.Fatalf("%d shares", n)
	}
	opened, _, _ := c.filled(6, 4, "b")
	opened.Wait = given(6, 3)
	if _, _, err := opened.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := shares("WHERE body IS NOT NULL"); n != 6 {
		t.Errorf("%d shares are kept, want those of the sum that was not opened", n)
	}
	c.Ahead.Store(int64(4 * time.Hour))
	c.Kill(0)
	c.Start(0) // it forgets first of all
	for shares("") > 0 {
		<-time.After(10 * time.Millisecond)
	}
	c.Ahead.Store(0)
	c.Kill(0)
	c.Start(0)
	if err := col.Clients[0].Begin(t.Context(), col.Signed, nil); kindOf(err) != problem.TaskClosed {
		t.Errorf("the sum was begun again: %v", err)
	}
	if _, err := col.Clients[0].Held(t.Context(), id); kindOf(err) != problem.TaskClosed {
		t.Errorf("what was held is said: %v", err)
	}
	openedID, err := opened.Sum.ID()
	must(t, err)
	if _, err := col.Clients[0].Held(t.Context(), openedID); kindOf(err) != problem.TaskClosed {
		t.Errorf("the answer is kept: %v", err)
	}
}
