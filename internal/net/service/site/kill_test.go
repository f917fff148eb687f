// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
)

var errKilled = errors.New("killed")

// killer kills a process at its n-th step: a change of its folder, or a step of its ledger. Nothing of it
// reaches the disk afterwards.
type killer struct {
	mu     sync.Mutex
	folder string
	left   int // steps
	dead   bool
	at     string
	then   func()
}

// kill sets the process whose state is in a folder to die at a step.
func kill(t *testing.T, folder string, step int, then func()) *killer {
	k := &killer{folder: folder, left: step, then: then}
	old := beforeWrite
	beforeWrite = func(path string) error {
		if !strings.HasPrefix(path, k.folder) {
			return nil
		}
		return k.step(strings.TrimPrefix(path, k.folder))
	}
	t.Cleanup(func() { beforeWrite = old })
	return k
}

func (k *killer) step(at string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left--; k.left == 0 {
		k.dead, k.at = true, at
		if k.then != nil {
			k.then()
		}
	}
	if k.dead {
		return errKilled
	}
	return nil
}

// revive reports whether the process was killed, and lets another begin, which is not.
func (k *killer) revive() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	dead := k.dead
	k.dead = false
	return dead
}

// account is a job in a ledger, between steps of a killer.
type account struct {
	*ledger.Job
	k *killer
}

func (a account) Charge(ctx context.Context, price dp.Price, bill []dp.Event) error {
	if err := a.k.step("before the charge"); err != nil {
		return err
	}
	if err := a.Job.Charge(ctx, price, bill); err != nil {
		return err
	}
	return a.k.step("after the charge")
}

func (a account) Abandon(ctx context.Context, reason string) error {
	if err := a.k.step("before its end"); err != nil {
		return err
	}
	return a.Job.Abandon(ctx, reason)
}

// withLedger gives site 1 a ledger for its trainings.
func withLedger(t *testing.T, w *world, k *killer) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	must(t, l.Declare(t.Context(), ledger.Dataset{Name: "patients", Epsilon: 1000 * dp.Nano, Note: "for tests"}))
	w.params[1].Charge = func(ctx context.Context, o Order) (Account, error) {
		job := o.Request()
		job.Terms = ledger.Terms{Unit: "one patient", Relation: dp.AddRemove}
		j, err := l.Job(ctx, job)
		return account{j, k}, err
	}
	return l
}

func spentIn(t *testing.T, l *ledger.Ledger) dp.Epsilon {
	t.Helper()
	b, err := l.Balances(t.Context(), "patients")
	must(t, err)
	return b[0].Spent + b[0].Reserved
}

// A site that is killed at any step goes on: it pays once, there is a model, and nothing is left.
func TestSiteIsKilledAtEachWrite(t *testing.T) {
	w := small(t)
	k := kill(t, w.params[1].State, 0, nil)
	l := withLedger(t, w, k)
	w.restart(1)
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		if i != 1 {
			h.ServeHTTP(to, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if k.revive() {
			w.restart(1)
			panic(http.ErrAbortHandler)
		}
		to.WriteHeader(answer.Code)
		_, _ = to.Write(answer.Body.Bytes())
	})
	pl := planOf(t, w.schema, 0, 60)
	for step := size.Of(4, 1); ; step++ {
		if step == size.Of(10, 0) { // it has begun; its end comes last
			step = 33
		}
		k.left, k.at = step, ""
		before := spentIn(t, l)
		_, err := w.coordinator(2).Train(t.Context(), w.schema, pl, kept)
		if k.at == "" && err == nil {
			t.Logf("%d steps", step-1)
			if step < 20 {
				t.Error("these are few")
			}
			return
		}
		if err != nil {
			t.Errorf("killed at %s (step %d): %v", k.at, step, err)
		}
		if got := spentIn(t, l) - before; got != 2*dp.Nano {
			t.Errorf("killed at %s (step %d): epsilon %s is spent, want 2", k.at, step, got)
		}
		if !w.empty(w.params[1].State) {
			t.Errorf("killed at %s (step %d): the site keeps something", k.at, step)
		}
	}
}

// A coordinator that is killed at any step finishes with the same command, and the sites pay once: also
// once the model is on disk.
func TestCoordinatorIsKilledAtEachWrite(t *testing.T) {
	w := small(t)
	pl := planOf(t, w.schema, 0, 60)
	for step := size.Of(3, 1); ; step++ { // from its result on
		c, before := w.coordinator(2), w.paid()
		ctx, cancel := context.WithCancel(t.Context())
		k := kill(t, c.State, step, cancel)
		file := ""
		keep := func(m *model.Model) error {
			if err := k.step("before the model"); err != nil {
				return err
			}
			text := string(bytesOf(t, m))
			if file != "" && file != text {
				t.Errorf("killed at %s: the model is another one", k.at)
			}
			file = text
			return k.step("after the model")
		}
		_, err := c.Train(ctx, w.schema, pl, keep)
		cancel()
		if k.at == "" {
			must(t, err)
			if t.Logf("%d steps", step-1); step < 7 {
				t.Error("these are few")
			}
			return
		}
		k.revive()
		again := w.coordinator(2)
		again.State = c.State
		if _, err := again.Train(t.Context(), w.schema, pl, keep); err != nil {
			t.Errorf("killed at %s: %v", k.at, err)
		}
		if n := w.paid() - before; n != 3 || file == "" || !w.empty(c.State) {
			t.Errorf("killed at %s: %d of 3 sites paid, or something is left", k.at, n)
		}
		for i := range w.params {
			if !w.empty(w.params[i].State) {
				t.Errorf("killed at %s: site %d keeps something", k.at, i)
			}
		}
	}
}

// A result that cannot be kept is not lost: the same command keeps it, without the sites.
func TestResultIsKeptLater(t *testing.T) {
	w := small(t)
	c := w.coordinator(2)
	var first []byte
	_, err := c.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), func(m *model.Model) error {
		first = bytesOf(t, m)
		return errors.New("the disk is full")
	})
	if err == nil || !strings.Contains(err.Error(), c.State) {
		t.Errorf("a model that could not be kept: %v", err)
	}
	again := w.coordinator(2)
	again.State, again.Wait = c.State, 100*time.Millisecond
	w.observe(func(int, http.Handler, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	m, err := again.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	if !bytes.Equal(bytesOf(t, m), first) || !w.empty(c.State) {
		t.Error("the model is another one, or something is left")
	}
}

// A training that was charged goes on with the set and the state that it was charged for: not with fresh
// keys after the state was lost, and not from a copy of the time before its first answer.
func TestChargedTrainingGoesOnWithItsStateAlone(t *testing.T) {
	w := small(t)
	asks := asksOf(t, w)
	k := kill(t, w.params[1].State, 0, nil)
	l := withLedger(t, w, k)
	w.restart(1)
	c := w.coordinator(2)
	set := joined(t, w, c)
	id := setOf(t, set).Training
	send := func(call string, body []byte) ([]byte, error) { return c.post(t.Context(), 1, call, body) }
	k.left = 4 // the file that says that it has begun
	if _, err := send(beginCall, set); err == nil || !strings.HasSuffix(k.at, begunFile) {
		t.Fatalf("killed at %s: %v", k.at, err)
	}
	k.revive()
	w.restart(1)
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(copied, os.DirFS(w.params[1].State)))
	_, err := send(beginCall, set)
	must(t, err)
	_, err = send(askCall, of(t, asks[0], id, same))
	must(t, err)
	w.params[1].State = copied
	w.restart(1)
	_, err = send(beginCall, set)
	must(t, err)
	for n := range 2 {
		if _, err := send(askCall, of(t, asks[n], id, func(a *sites.Ask) { a.Number = 1 })); err == nil {
			t.Errorf("a copy answers measurement %d once more", n)
		}
	}
	w.params[1].State, w.params[1].Anchors = t.TempDir(), anchor.Folder(t.TempDir())
	w.restart(1)
	text, err := folder(c.State).read(trainingFile)
	must(t, err)
	fresh, err := send(joinCall, text)
	must(t, err)
	all := setOf(t, set)
	must(t, sites.Decode(fresh, &all.Joined[1]))
	set, err = json.Marshal(all)
	must(t, err)
	for range 2 {
		if _, err := send(beginCall, set); kindOf(err) != "task-closed" {
			t.Errorf("a training goes on with fresh keys: %v", err)
		}
	}
	if got := spentIn(t, l); got != 2*dp.Nano {
		t.Errorf("epsilon %s is spent, want 2", got)
	}
}

func setOf(t *testing.T, text []byte) (s *sites.Set) {
	t.Helper()
	must(t, sites.Decode(text, &s))
	return s
}
