// SPDX-License-Identifier: Apache-2.0

package spending_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
)

// TestEveryCallMayFail lets three owners answer three tasks with one failed call of
// the database at every place there is, before or after it took effect: the disk
// is full, a sync fails, the answer was lost. Who tries again draws another
// report; what leaves is what the book holds, and each task is paid for once.
func TestEveryCallMayFail(t *testing.T) {
	ctx := t.Context()
	for happened, fault := range map[bool]syscall.Errno{false: syscall.ENOSPC, true: syscall.EIO} {
		for n := 1; ; n++ {
			path := filepath.Join(t.TempDir(), "book.db")
			var faults sqldbtest.Faults
			c, err := sqldb.Connector(path, spending.Options)
			must(t, err)
			db, err := sqldb.Connect(ctx, faults.Connector(c), false, spending.Options)
			must(t, err)
			b, err := spending.On(ctx, db, 3*dp.Nano)
			must(t, err)
			faults.Fail(n, happened, fault)
			failures, tries := 0, 0
			again := func(f func() error) {
				t.Helper()
				for {
					err := f()
					if err == nil {
						return
					}
					if failures++; failures > 1 || !errors.Is(err, sqldb.ErrFailed) || !errors.Is(err, fault) {
						t.Fatalf("call %d: %v", n, err)
					}
				}
			}
			var keys spending.Keys
			again(func() (err error) { keys, err = b.Keys(ctx, 3); return err })
			left := map[string]bool{} // what left, by task and owner
			for task := range byte(3) {
				again(func() error { _, err := b.Broke(ctx, wire.Digest{task}, dp.Nano, 3); return err })
				again(func() error {
					tries++
					var given []answer.Given
					for o := range 3 {
						given = append(given, give(o, task, dp.Nano, fmt.Sprint(tries)))
					}
					if err := b.Commit(ctx, given); err != nil {
						return err
					}
					for _, g := range given {
						if g.Refused != nil {
							t.Fatalf("call %d: %v: a task was paid for twice", n, g.Refused)
						}
						left[fmt.Sprint(task, g.Owner, string(g.Report))] = true
					}
					return nil
				})
			}
			over := !faults.Fired()
			must(t, b.Close())
			if b, err = spending.Open(ctx, path, 3*dp.Nano, ""); err != nil {
				t.Fatal(err)
			}
			if same, err := b.Keys(ctx, 3); err != nil || string(same) != string(keys) {
				t.Fatalf("call %d: the keys are others, %v", n, err)
			}
			for task := range byte(3) {
				kept, err := b.For(ctx, wire.Digest{task})
				must(t, err)
				for o := range 3 {
					if e := kept[o]; !left[fmt.Sprint(task, o, string(e.Report))] {
						t.Fatalf("call %d: the book holds %v for task %d; what left is %v", n, e, task, left)
					}
				}
			}
			if len(left) != 9 {
				t.Errorf("call %d: %d reports left, want one for each owner and task", n, len(left))
			}
			if given := []answer.Given{give(0, 9, 1, "more")}; b.Commit(ctx, given) != nil ||
				!errors.Is(given[0].Refused, spending.ErrSpent) {
				t.Errorf("call %d: a task was paid for less than once", n)
			}
			must(t, b.Close())
			if over {
				if n < 20 {
					t.Errorf("only %d calls could fail", n)
				}
				break
			}
		}
	}
}

// TestBooksKeepRoom: what an owner is asked for is not written, paid for or given where too little
// of its disk would stay free.
func TestBooksKeepRoom(t *testing.T) {
	var disk sqldbtest.Disk
	ctx, o := t.Context(), spending.Options
	o.Room = disk.Room
	db, err := sqldb.Open(ctx, filepath.Join(t.TempDir(), "book.db"), o)
	must(t, err)
	b, err := spending.On(ctx, db, 3*dp.Nano)
	must(t, err)
	defer b.Close()
	disk.Left.Store(5)
	if err := b.Commit(ctx, []answer.Given{give(0, 1, dp.Nano, "report")}); !errors.Is(err, diskroom.ErrFull) {
		t.Errorf("a full disk takes a report: %v", err)
	}
	if given, err := b.For(ctx, wire.Digest{1}); err != nil || len(given) != 0 {
		t.Errorf("the book holds %v, %v", given, err)
	}
	disk.Left.Store(6)
	must(t, b.Commit(ctx, []answer.Given{give(0, 1, dp.Nano, "report")}))
}
