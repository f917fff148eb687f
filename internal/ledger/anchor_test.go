// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// anchored opens a ledger, in a folder of anchors.
func anchored(t *testing.T, address string, folder anchor.Folder) (*Ledger, error) {
	t.Helper()
	l, err := Create(t.Context(), address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l, l.Anchor(t.Context(), folder)
}

// TestRolledBackLedgersAreRefused puts a ledger back to each of its earlier states, by its file: it
// would give budget a second time, and is refused, under another name and after it went on from
// there, too. A ledger that goes forward, is moved, or is new to the machine is not.
func TestRolledBackLedgersAreRefused(t *testing.T) {
	dir, folder := t.TempDir(), anchor.Folder(filepath.Join(t.TempDir(), "anchors"))
	path := filepath.Join(dir, "l.db")
	read := func() []byte {
		b, err := os.ReadFile(path)
		must(t, err)
		return b
	}
	l, err := anchored(t, path, folder)
	must(t, err)
	must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: dp.Nano}))
	states := [][]byte{read()}
	for i := range 3 {
		j := mustJob(t, l, request(fmt.Sprint("job", i)))
		must(t, charge(t.Context(), j, dp.Nano/4))
		states = append(states, read())
		must(t, j.Commit(t.Context(), []byte("model")))
		states = append(states, read())
	}
	must(t, l.Close())
	newest := len(states) - 1
	for i, state := range states {
		for _, name := range []string{path, filepath.Join(dir, "moved.db")} {
			must(t, os.WriteFile(name, state, 0o600))
			l, err := anchored(t, name, folder)
			var behind *anchor.Behind
			if errors.As(err, &behind) != (i < newest) || i == newest && err != nil {
				t.Errorf("state %d of %d at %s: %v", i, newest, filepath.Base(name), err)
			}
			must(t, l.Close())
		}
		elsewhere, err := anchored(t, path, anchor.Folder(t.TempDir()))
		must(t, err) // the first time that this machine sees it
		must(t, elsewhere.Close())
	}
	// One that went on from an earlier state has as many entries, and others.
	must(t, os.WriteFile(path, states[0], 0o600))
	fork, err := Open(t.Context(), path)
	must(t, err)
	for i := range 4 {
		j := mustJob(t, fork, request(fmt.Sprint("other", i)))
		must(t, charge(t.Context(), j, dp.Nano/4))
		must(t, j.Commit(t.Context(), []byte("model")))
	}
	must(t, fork.Close())
	var behind *anchor.Behind
	if _, err := anchored(t, path, folder); !errors.As(err, &behind) {
		t.Errorf("another history of as many entries: err = %v", err)
	}
}

// TestEditedEntriesAreRefused raises a total under the hash that was seen: an anchor is of the entry, and
// not of what the ledger writes as its hash.
func TestEditedEntriesAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for sql, want := range map[string]bool{`UPDATE discreet_entries SET epsilon = epsilon`: false,
			`UPDATE discreet_entries SET epsilon = 2 * epsilon`: true} {
			p, folder := fresh(t), anchor.Folder(t.TempDir())
			must(t, declare(t, p).Close())
			for range 2 { // it is seen, and seen again
				_, err := anchored(t, p.address, folder)
				must(t, err)
			}
			p.execute(t, sql)
			var damaged *Damaged
			if _, err := anchored(t, p.address, folder); errors.As(err, &damaged) != want || !want && err != nil {
				t.Errorf("after %s: err = %v", sql, err)
			}
		}
	})
}

// TestAnchorsNeverLead stops a ledger at every point between two effects: its anchor never names an
// entry that the ledger does not hold, so that no crash locks anyone out.
func TestAnchorsNeverLead(t *testing.T) {
	stop := errors.New("stopped")
	for n := 1; ; n++ {
		path, folder := filepath.Join(t.TempDir(), "l.db"), anchor.Folder(t.TempDir())
		l, err := anchored(t, path, folder)
		must(t, err)
		passed := 0
		l.pass = func(string) error {
			if passed++; passed == n {
				return stop
			}
			return nil
		}
		err = l.Declare(t.Context(), Dataset{Name: "d", Epsilon: dp.Nano})
		if err == nil {
			var j *Job
			if j, err = l.Job(t.Context(), request("job")); err == nil {
				if err = charge(t.Context(), j, dp.Nano/4); err == nil {
					err = j.Commit(t.Context(), []byte("model"))
				}
			}
		}
		must(t, l.Close())
		if _, err := anchored(t, path, folder); err != nil {
			t.Fatalf("stopped at point %d: %v", n, err)
		}
		if err == nil {
			if n < 10 {
				t.Errorf("only %d points", n)
			}
			return
		}
	}
}

// TestManyKeepOneAnchor lets handles of one ledger go on at once, in each kind of database: the
// anchor is one of its heads all the while, and in the end the newest.
func TestManyKeepOneAnchor(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		must(t, declare(t, p).Close())
		folder := anchor.Folder(t.TempDir())
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				l, err := Open(context.Background(), p.address)
				if err == nil {
					defer l.Close()
					err = l.Anchor(context.Background(), folder)
				}
				var j *Job
				if err == nil {
					j, err = l.Job(context.Background(), request(fmt.Sprint("job", i)))
				}
				if err == nil {
					err = charge(context.Background(), j, dp.Nano/100)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		l, err := anchored(t, p.address, folder)
		must(t, err)
		h := verify(t, l)
		if _, err := os.Stat(filepath.Join(string(folder), l.identity, fmt.Sprintf("%d-%s", h.Seq, h.Hash))); err != nil {
			t.Errorf("the anchor is not the head: %v", err)
		}
	})
}

// TestAnchorsThatCannotBeKept: a ledger is not opened where its anchor cannot be; one whose anchor
// cannot be kept later says so in the end, and has lost nothing.
func TestAnchorsThatCannotBeKept(t *testing.T) {
	path, file := filepath.Join(t.TempDir(), "l.db"), filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	l, err := anchored(t, path, anchor.Folder(filepath.Join(t.TempDir(), "sound")))
	must(t, err)
	must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: dp.Nano}))
	if _, err := anchored(t, path, anchor.Folder(file)); err == nil {
		t.Error("a ledger is opened whose anchor cannot be kept")
	}
	l.anchors = anchor.Folder(file)
	j := mustJob(t, l, request("job"))
	must(t, charge(t.Context(), j, dp.Nano/4))
	if l.Close() == nil {
		t.Error("nobody is told that the anchor could not be kept")
	}
}
