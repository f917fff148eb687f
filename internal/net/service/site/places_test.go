// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// offer is a training that a coordinator offers, as a text.
func offer(t *testing.T, w *world, c *Coordinator, change func(*sites.Training)) []byte {
	t.Helper()
	c.connect()
	about, err := c.describe(w.schema, planOf(t, w.schema, 0, 60).Terms(), nil)
	must(t, err)
	change(about)
	text, err := json.Marshal(about)
	must(t, err)
	return text
}

// A coordinator that opens whatever it can takes its own share of the places. Others have theirs.
func TestPlacesOfCoordinators(t *testing.T) {
	w := small(t)
	w.allow(0, func(p *Policy) { p.Coordinators = append(p.Coordinators, "other") })
	c, other := w.coordinator(2), w.coordinator(2)
	other.Self = w.identity(identity.Combiner, "other")
	taken := 0
	var last []byte
	for ; taken <= maxOpen; taken++ {
		text := offer(t, w, c, func(*sites.Training) {})
		if _, err := c.post(t.Context(), 0, joinCall, text); err != nil {
			if kindOf(err) != "overloaded" {
				t.Error(err)
			}
			break
		}
		last = text
	}
	if taken != maxOpen/2 {
		t.Errorf("one of two coordinators has %d places, want %d", taken, maxOpen/2)
	}
	_, err := c.post(t.Context(), 0, joinCall, last) // it has its place
	must(t, err)
	text := offer(t, w, other, func(*sites.Training) {})
	_, err = other.post(t.Context(), 0, joinCall, text)
	must(t, err)
	c.end(t.Context(), sites.TrainingDigest(last))
	_, err = c.post(t.Context(), 0, joinCall, offer(t, w, c, func(*sites.Training) {}))
	must(t, err)
	open, err := ListOpen(w.params[0].State)
	must(t, err)
	if len(open) != maxOpen/2+1 {
		t.Errorf("%d trainings are open, want %d", len(open), maxOpen/2+1)
	}
	for _, o := range open {
		must(t, EndOpen(w.params[0].State, o.ID)) // while the site runs
		if _, err := other.post(t.Context(), 0, endCall, []byte(o.ID)); kindOf(err) != "unknown-task" {
			t.Errorf("a training that its site has ended: %v", err)
		}
	}
	if EndOpen(w.params[0].State, open[0].ID) == nil || EndOpen(w.params[0].State, "../../..") == nil || !w.empty(w.params[0].State) {
		t.Error("the site keeps something, or ends what it does not have")
	}
}

// A training to which nothing happens ends by itself, and leaves nothing.
func TestIdleTrainingsEnd(t *testing.T) {
	w := small(t)
	now := time.Now()
	w.params[0].Now = func() time.Time { return now }
	for _, p := range w.policies {
		p.End = now.AddDate(1, 0, 0)
	}
	w.restart(0)
	c := w.coordinator(2)
	asks := asksOf(t, w)
	begun := begin(t, w, c, 0)
	_, err := c.post(t.Context(), 0, joinCall, offer(t, w, c, func(*sites.Training) {}))
	must(t, err)
	must(t, folderIn(w.params[0].State, "half").create()) // as a kill leaves one
	count := func() int {
		t.Helper()
		_, err := c.post(t.Context(), 0, joinCall, offer(t, w, c, func(*sites.Training) {}))
		must(t, err)
		open, err := ListOpen(w.params[0].State)
		must(t, err)
		return len(open)
	}
	if n := count(); n != 3 {
		t.Errorf("%d trainings are open, want 3", n)
	}
	now = now.Add(idleJoined + time.Minute)
	if n := count(); n != 1+1 {
		t.Errorf("%d trainings are open after an hour, want the one that began and a new one", n)
	}
	_, err = c.post(t.Context(), 0, askCall, of(t, asks[0], begun, same))
	must(t, err)
	now = now.Add(idleBegun)
	if n := count(); n != 1 {
		t.Errorf("%d trainings are open after a week, want a new one", n)
	}
	if _, err := c.post(t.Context(), 0, askCall, of(t, asks[1], begun, same)); kindOf(err) != "unknown-task" {
		t.Errorf("a training goes on after it ended: %v", err)
	}
	now = now.Add(idleBegun)
	w.restart(0)
	if !w.empty(w.params[0].State) {
		t.Error("the site keeps something")
	}
}

// A training whose begin is refused, again and again, is as idle as one that nobody asks for.
func TestRefusedBeginsLeaveATrainingIdle(t *testing.T) {
	w := small(t)
	w.params[0].Charge = func(context.Context, Order) (Account, error) {
		return nil, problem.New(problem.Spent, "nothing is left")
	}
	w.restart(0)
	c := w.coordinator(2)
	c.connect()
	about, err := c.describe(w.schema, planOf(t, w.schema, 0, 60).Terms(), nil)
	must(t, err)
	text, _, err := c.resume(about)
	must(t, err)
	id := sites.TrainingDigest(text)
	folder := folderIn(w.params[0].State, id)
	long := time.Now().Add(-2 * idleBegun).Truncate(time.Second)
	for k := range 2 {
		if _, err := c.assemble(t.Context(), about, text, id); err == nil {
			t.Fatal("a training began without an account")
		}
		if info, err := os.Stat(string(folder)); err != nil || k == 1 && !info.ModTime().Equal(long) {
			t.Errorf("begin %d that was refused counts as an event: %v", k+1, err)
		}
		must(t, os.Chtimes(string(folder), long, long))
	}
}

// What a site keeps of a coordinator's texts is bounded, and so is how often.
func TestKeptTextsAreBounded(t *testing.T) {
	w := small(t)
	asks := asksOf(t, w)
	c := w.coordinator(2)
	id := begin(t, w, c, 0)
	for n, refused := range map[int]bool{sites.MaxLabel: false, sites.MaxLabel + 1: true, 1 << 20: true} {
		ask := of(t, asks[0], id, func(a *sites.Ask) { a.Label = strings.Repeat("a", n) })
		if _, err := c.post(t.Context(), 0, askCall, ask); (err != nil) != refused {
			t.Errorf("a label of %d bytes: %v", n, err)
		}
	}
	long := func(n int) func(*sites.Training) {
		return func(a *sites.Training) {
			a.Bill = append([]dp.Event{}, a.Bill...)
			a.Bill[0].Release = strings.Repeat("a", n)
		}
	}
	plain := offer(t, w, c, func(*sites.Training) {})
	for what, of := range map[string]struct {
		text []byte
		kind string
	}{
		"of a long label":       {offer(t, w, c, long(sites.MaxLabel)), ""},
		"of a longer label":     {offer(t, w, c, long(sites.MaxLabel+1)), "malformed"},
		"with spaces":           {append(plain, bytes.Repeat([]byte(" "), 1<<20)...), "malformed"},
		"with a key twice":      {bytes.Replace(plain, []byte(`{"version":1`), []byte(`{"version":1,"version":1`), 1), "malformed"},
		"at next to no epsilon": {offer(t, w, c, func(a *sites.Training) { a.Epsilon = 1 }), "not-allowed"},
	} {
		if _, err := c.post(t.Context(), 0, joinCall, of.text); kindOf(err) != of.kind {
			t.Errorf("a training %s: %v", what, err)
		}
	}
}
