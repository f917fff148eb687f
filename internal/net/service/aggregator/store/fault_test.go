// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

// TestEveryCallMayFail goes through a task's life with one failed call of the
// database at every place there is, before or after it took effect: the disk is
// full, or the answer was lost. Whoever tries again ends with the same task.
func TestEveryCallMayFail(t *testing.T) {
	ctx := t.Context()
	for _, happened := range []bool{false, true} {
		for n := 1; ; n++ {
			var faults sqldbtest.Faults
			c, err := sqldb.Connector(filepath.Join(t.TempDir(), "state.db"), store.Options)
			must(t, err)
			db, err := sqldb.Connect(ctx, faults.Connector(c), false, store.Options)
			must(t, err)
			s, err := store.On(ctx, db)
			must(t, err)
			faults.Fail(n, happened, syscall.ENOSPC)
			failures := 0
			again := func(f func() error) {
				t.Helper()
				for {
					err := f()
					if err == nil {
						return
					}
					if failures++; failures > 1 || !errors.Is(err, store.ErrFailed) {
						t.Fatalf("call %d: %v", n, err)
					}
				}
			}
			a := task("a")
			again(func() error { return s.Create(ctx, a, round(0)) })
			told := map[uint64][]store.Outcome{}
			send := func(r int, owners ...uint64) {
				again(func() error {
					var batch []store.Report
					for _, o := range owners {
						batch = append(batch, report(a, r, o, fmt.Sprint(o)))
					}
					out, err := s.Accept(ctx, batch)
					for i := range out {
						told[owners[i]] = append(told[owners[i]], out[i])
					}
					return err
				})
			}
			send(0, 1, 2, 3)
			send(0, 3, 4)
			again(func() error { return s.Seal(ctx, a.ID, 0, 4) })
			var read []string
			again(func() error {
				read = nil
				return s.Reports(ctx, a.ID, 0, func(_ [32]byte, body []byte) error {
					read = append(read, string(body))
					return nil
				})
			})
			if !slices.Equal(read, []string{"1", "2", "3", "4"}) {
				t.Errorf("call %d: the round holds %q", n, read)
			}
			next := round(1)
			again(func() error { return s.Advance(ctx, a.ID, 0, &next, nil) })
			send(1, 5)
			again(func() error { return s.Seal(ctx, a.ID, 1, 1) })
			again(func() error { return s.Advance(ctx, a.ID, 1, nil, []byte("model")) })
			for owner, got := range told {
				for i, o := range got {
					if o != store.Stored && o != store.Again || o == store.Stored && i > 0 {
						t.Errorf("call %d: owner %d was told %v", n, owner, got)
					}
				}
			}
			over := !faults.Fired()
			faults.Mend()
			if p, err := s.Now(ctx, a.ID); err != nil || p != (store.Progress{Task: store.Done, Number: 1, Round: store.Done}) {
				t.Errorf("call %d: the task is %+v, %v", n, p, err)
			}
			must(t, s.Close())
			if over {
				if n < 40 {
					t.Errorf("only %d calls could fail", n)
				}
				break
			}
		}
	}
}

// TestStoresKeepRoom: what operators and owners send is refused where too little of the disk would
// stay free; what follows from stored reports is stored all the same.
func TestStoresKeepRoom(t *testing.T) {
	var disk sqldbtest.Disk
	ctx, o := t.Context(), store.Options
	o.Room = disk.Room
	db, err := sqldb.Open(ctx, filepath.Join(t.TempDir(), "state.db"), o)
	must(t, err)
	s, err := store.On(ctx, db)
	must(t, err)
	defer s.Close()
	a, b := task("a"), task("b")
	disk.Left.Store(1 << 10)
	must(t, s.Create(ctx, a, round(0)))
	_, err = s.Accept(ctx, []store.Report{report(a, 0, 1, "one")})
	must(t, err)
	disk.Left.Store(2)
	_, err = s.Accept(ctx, []store.Report{report(a, 0, 2, "two")})
	for what, err := range map[string]error{"reports": err, "a task": s.Create(ctx, b, round(0)),
		"a list": s.Keep(ctx, make([]byte, 32)), "more": s.Probe(ctx, 3)} {
		if !errors.Is(err, diskroom.ErrFull) || !errors.Is(err, store.ErrFailed) {
			t.Errorf("a full disk takes %s: %v", what, err)
		}
	}
	must(t, s.Seal(ctx, a.ID, 0, 1))
	must(t, s.Advance(ctx, a.ID, 0, nil, []byte("model")))
}
