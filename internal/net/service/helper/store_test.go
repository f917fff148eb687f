// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// TestEveryCallMayFail goes through a sum's life with one failed call of the
// database at every place there is, before or after it took effect: the disk is
// full, or the answer was lost. Whoever tries again ends with the same shares and
// the same one answer.
func TestEveryCallMayFail(t *testing.T) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, happened := range []bool{false, true} {
		for n := 1; ; n++ {
			var faults sqldbtest.Faults
			c, err := sqldb.Connector(filepath.Join(t.TempDir(), "store.db"), Options)
			must(err)
			db, err := sqldb.Connect(ctx, faults.Connector(c), false, Options)
			must(err)
			s, err := On(ctx, db, "one")
			must(err)
			faults.Fail(n, happened, syscall.ENOSPC)
			failures := 0
			again := func(f func() error) {
				t.Helper()
				for {
					err := f()
					if err == nil {
						return
					}
					if failures++; failures > 1 || !errors.Is(err, sqldb.ErrFailed) {
						t.Fatalf("call %d: %v", n, err)
					}
				}
			}
			id := secretsum.ID{1}
			again(func() error { return s.beginSum(ctx, id, "combiner/main", []byte("text"), time.Now(), 1, 1000) })
			send := func(want problem.Kind, of int, body string) {
				again(func() error {
					refused, _, err := s.acceptShares(ctx, id, []share{{of, []byte("proof"), []byte(body), []byte("signature"),
						[]byte(body)}})
					if err == nil && refused[0] != want {
						t.Errorf("call %d: share %d is %v, want %v", n, of, refused[0], want)
					}
					return err
				})
			}
			send(problem.Kind{}, 0, "a")
			send(problem.Kind{}, 1, "b")
			send(problem.Kind{}, 0, "a")
			send(problem.Replayed, 1, "c")
			again(func() error {
				return s.storeFault(ctx, id, share{3, []byte("proof"), []byte("bad"), []byte("signature"), nil}, 1)
			})
			send(problem.Inconsistent, 3, "good after all")
			again(func() error {
				faults, err := s.storedFaults(ctx, id)
				if err == nil && (len(faults) != 1 || string(faults[0].body) != "bad") {
					t.Errorf("call %d: the faults are %v", n, faults)
				}
				return err
			})
			again(func() error { return s.endSum(ctx, id) })
			send(problem.Late, 2, "d")
			send(problem.Kind{}, 1, "b")
			again(func() error { return s.keepHeld(ctx, id, []byte("held")) })
			var read []string
			again(func() error {
				read = nil
				return s.eachShare(ctx, id, func(_ int, body []byte) error { read = append(read, string(body)); return nil })
			})
			if !slices.Equal(read, []string{"a", "b"}) {
				t.Errorf("call %d: the sum holds %q", n, read)
			}
			for _, request := range []string{"x", "y", "x"} {
				again(func() error {
					asked, answer, err := s.keepAnswer(ctx, id, []byte(request), []byte("answer to "+request))
					if err == nil && (string(asked) != "x" || string(answer) != "answer to x") {
						t.Errorf("call %d: %s is answered by %q to %q", n, request, answer, asked)
					}
					return err
				})
			}
			over := !faults.Fired()
			faults.Mend()
			asked, answer, err := s.answeredRequest(ctx, id)
			if err != nil || string(asked) != "x" || string(answer) != "answer to x" {
				t.Errorf("call %d: %q is answered by %q, %v", n, asked, answer, err)
			}
			must(s.eachShare(ctx, id, func(of int, _ []byte) error { return fmt.Errorf("share %d is kept", of) }))
			must(s.Close())
			if over {
				if n < 30 {
					t.Errorf("only %d calls could fail", n)
				}
				break
			}
		}
	}
}

// TestFullDisks: a helper whose disk is full is not ready, though it can read, and
// tells no collector how many shares it has once it has refused some: their owners
// are not gone.
func TestFullDisks(t *testing.T) {
	var faults sqldbtest.Faults
	c, err := sqldb.Connector(filepath.Join(t.TempDir(), "store.db"), Options)
	must(t, err)
	db, err := sqldb.Connect(t.Context(), faults.Connector(c), false, Options)
	must(t, err)
	s, err := On(t.Context(), db, "one")
	must(t, err)
	defer s.Close()
	id := secretsum.ID{1}
	must(t, s.beginSum(t.Context(), id, "aggregator/a", []byte("text"), time.Now(), 1, 1<<20))
	must(t, s.probeStore(t.Context()))
	faults.FailWrites(syscall.ENOSPC)
	if _, _, err := s.countShares(t.Context(), id); err != nil {
		t.Errorf("a full disk cannot be read: %v", err)
	}
	if err := s.probeStore(t.Context()); !errors.Is(err, sqldb.ErrFailed) {
		t.Errorf("a full disk is ready: %v", err)
	}
	must(t, s.checkWritable(t.Context())) // it has refused no one
	if _, _, err := s.acceptShares(t.Context(), id,
		[]share{{participant: 0, proof: []byte("p"), body: []byte("x"), signature: []byte("s")}}); !errors.Is(err,
		sqldb.ErrFailed) {
		t.Errorf("a full disk takes shares: %v", err)
	}
	if err := s.checkWritable(t.Context()); !errors.Is(err, sqldb.ErrFailed) {
		t.Errorf("a collector is told how many shares a full disk has: %v", err)
	}
	faults.Mend()
	must(t, s.checkWritable(t.Context()))
	must(t, s.probeStore(t.Context()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoresKeepRoom: a collector's sums and participants' shares are refused where too little of
// the disk would stay free.
func TestStoresKeepRoom(t *testing.T) {
	var disk sqldbtest.Disk
	ctx, o := t.Context(), Options
	o.Room = disk.Room
	db, err := sqldb.Open(ctx, filepath.Join(t.TempDir(), "store.db"), o)
	must(t, err)
	s, err := On(ctx, db, "one")
	must(t, err)
	defer s.Close()
	disk.Left.Store(1 << 10)
	id := secretsum.ID{1}
	must(t, s.beginSum(ctx, id, "aggregator/a", []byte("text"), time.Now(), 2, 1<<20))
	disk.Left.Store(2)
	_, _, err = s.acceptShares(ctx, id, []share{{body: []byte("abc"), signature: []byte("s")}})
	for what, err := range map[string]error{"shares": err,
		"a sum":   s.beginSum(ctx, secretsum.ID{2}, "aggregator/a", []byte("text"), time.Now(), 2, 1<<20),
		"a fault": s.storeFault(ctx, id, share{body: []byte("abc"), signature: []byte("s")}, 1)} {
		if !errors.Is(err, diskroom.ErrFull) || !errors.Is(err, sqldb.ErrFailed) {
			t.Errorf("a full disk takes %s: %v", what, err)
		}
	}
}

// TestNoBitAnswersTwice flips bits of a store with an answered sum and an open one: one that can still
// be opened answers no second request, and takes no second share of a participant.
func TestNoBitAnswersTwice(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "store.db")
	answered, opened := secretsum.ID(bytes.Repeat([]byte{11}, 32)), secretsum.ID(bytes.Repeat([]byte{12}, 32))
	shareOf := func(of int, body string) share {
		return share{of, []byte("proof"), []byte(body), []byte("signature"), []byte(body)}
	}
	s, err := At(ctx, path, "one", "")
	must(t, err)
	for _, id := range []secretsum.ID{answered, opened} {
		must(t, s.beginSum(ctx, id, "combiner/main", []byte("text"), time.Unix(1<<40, 0), 9, 1000))
		_, _, err = s.acceptShares(ctx, id, []share{shareOf(77, "a"), shareOf(78, "b")})
		must(t, err)
	}
	must(t, s.storeFault(ctx, opened, shareOf(79, "bad"), 1))
	must(t, s.endSum(ctx, answered))
	_, _, err = s.keepAnswer(ctx, answered, []byte("request"), []byte("the answer"))
	must(t, err)
	must(t, s.Close())
	sqldbtest.FlipBits(t, path, func(what, path string) {
		s, err := At(ctx, path, "one", "")
		if err != nil {
			return
		}
		defer s.Close()
		for of, body := range map[int]string{77: "another", 79: "another"} {
			if refused, _, err := s.acceptShares(ctx, opened, []share{shareOf(of, body)}); err == nil && refused[0] == (problem.Kind{}) {
				t.Errorf("%s: a second share of participant %d is taken", what, of)
			}
		}
		_ = s.beginSum(ctx, answered, "combiner/main", []byte("text"), time.Unix(1<<40, 0), 9, 1000)
		_ = s.endSum(ctx, answered)
		if _, answer, err := s.keepAnswer(ctx, answered, []byte("other"), []byte("second one")); err == nil && string(answer) == "second one" {
			t.Errorf("%s: a second request is answered", what)
		}
	}, answered[:], opened[:])
}
