// SPDX-License-Identifier: Apache-2.0

package spending_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *spending.Book {
	t.Helper()
	b, err := spending.Open(t.Context(), path, 3*dp.Nano, "")
	must(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

func give(o int, task byte, cost dp.Epsilon, report string) answer.Given {
	return answer.Given{Owner: o, Task: wire.Digest{task}, Cost: cost,
		Entry: answer.Entry{Round: [32]byte{9}, Report: []byte(report)}}
}

func TestKeysStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.db")
	few, err := open(t, path).Keys(t.Context(), 3)
	must(t, err)
	many, err := open(t, path).Keys(t.Context(), 1000)
	must(t, err)
	if many.Len() != 1000 || !bytes.Equal(many[:len(few)], few) {
		t.Error("owners have other keys than before")
	}
	seen := map[string]bool{}
	for i := range many.Len() {
		name := many.Name(i)
		if seen[name] || len(name) != 64 || !ed25519.NewKeyFromSeed(many.At(i).Seed()).Equal(many.At(i)) {
			t.Fatalf("owner %d has a bad key", i)
		}
		seen[name] = true
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the keys: %v, %v", info.Mode(), err)
	}
}

// TestOwnersGiveOnce commits the same owner again, from the same process and the
// next: what was given first stays, and is paid for once.
func TestOwnersGiveOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.db")
	for i := range 3 {
		given := []answer.Given{give(7, 1, dp.Nano, fmt.Sprint("report ", i)), give(8+i, 1, dp.Nano, "x")}
		must(t, open(t, path).Commit(t.Context(), given))
		if given[0].Refused != nil || string(given[0].Report) != "report 0" {
			t.Errorf("time %d: got %q, want the first report", i, given[0].Report)
		}
	}
	b := open(t, path)
	before, err := b.For(t.Context(), wire.Digest{1})
	if e := before[7]; err != nil || string(e.Report) != "report 0" || e.Round != [32]byte{9} {
		t.Errorf("the book holds %v, %v", e, err)
	}
	// Two more fit below 3: had the repetitions been paid for, none would.
	for task := byte(2); task <= 4; task++ {
		given := []answer.Given{give(7, task, dp.Nano, "more")}
		must(t, b.Commit(t.Context(), given))
		if over := task == 4; errors.Is(given[0].Refused, spending.ErrSpent) != over {
			t.Errorf("task %d: %v, want ErrSpent: %v", task, given[0].Refused, over)
		}
	}
}

// TestBrokeOwnersStopNobodyElse lets owners commit together of whom one has spent
// too much.
func TestBrokeOwnersStopNobodyElse(t *testing.T) {
	b, ctx := open(t, filepath.Join(t.TempDir(), "book.db")), t.Context()
	must(t, b.Commit(ctx, []answer.Given{give(0, 1, 3*dp.Nano, "all")}))
	given := []answer.Given{give(0, 2, 1, "a"), give(1, 2, 3*dp.Nano, "b"), give(2, 2, 3*dp.Nano+1, "c"),
		give(3, 2, 0, "d"), give(4, 2, -1, "e")}
	must(t, b.Commit(ctx, given))
	for i, g := range given {
		if want := i != 1; errors.Is(g.Refused, spending.ErrSpent) != want {
			t.Errorf("owner %d: %v, refused should be %v", i, g.Refused, want)
		}
	}
	if _, err := b.Broke(ctx, wire.Digest{3}, 1, 2); !errors.Is(err, spending.ErrSpent) {
		t.Errorf("both have spent all: %v", err)
	}
	// a third owner could pay; the second has answered
	for task, c := range map[byte]struct{ n, broke int }{3: {3, 2}, 2: {2, 1}} {
		broke, err := b.Broke(ctx, wire.Digest{task}, 1, c.n)
		must(t, err)
		if len(broke) != c.broke || !broke[0] || broke[1] != (task == 3) {
			t.Errorf("task %d: %v cannot pay, want %d", task, broke, c.broke)
		}
	}
}

// TestManyProcesses commits one owner's reports for many tasks from several books
// on one file: exactly as many are taken as there is budget for.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.db")
	var mu sync.Mutex
	taken := 0
	var wg sync.WaitGroup
	for p := range 4 {
		b := open(t, path)
		wg.Go(func() {
			for task := range 5 {
				given := []answer.Given{give(0, byte(1+5*p+task), dp.Nano/2, "r")}
				if err := b.Commit(t.Context(), given); err != nil {
					t.Error(err)
				} else if given[0].Refused == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if taken != 6 {
		t.Errorf("%d reports of ε = 0.5 were taken, want 6 below 3", taken)
	}
}

func TestBooksRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.db")
	open(t, path)
	for name, c := range map[string]struct {
		path     string
		lifetime dp.Epsilon
	}{"another lifetime": {path, 4 * dp.Nano}, "none": {path + "2", 0}, "a shared one": {"postgres://h/d", dp.Nano}} {
		var p *dp.ParamError
		if _, err := spending.Open(t.Context(), c.path, c.lifetime, ""); !errors.As(err, &p) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFirstChargesAreChecked charges owners of a fresh book more than their lifetime, and exactly
// that.
func TestFirstChargesAreChecked(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	given := []answer.Given{give(0, 1, 3*dp.Nano, "all"), give(1, 1, 3*dp.Nano+1, "more"), give(2, 1, 0, "nothing")}
	must(t, b.Commit(t.Context(), given))
	for i, refused := range []bool{false, true, true} {
		if (given[i].Refused != nil) != refused {
			t.Errorf("owner %d, at %s of %s: refused %v", i, given[i].Cost, dp.Epsilon(3*dp.Nano), given[i].Refused)
		}
	}
	if kept, err := b.For(t.Context(), wire.Digest{1}); err != nil || len(kept) != 1 {
		t.Errorf("%d reports are kept, %v", len(kept), err)
	}
}

// TestNoBitSpendsTwice flips bits of a book: one that can still be opened gives no second report for a
// task, and has no more left than before.
func TestNoBitSpendsTwice(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "book.db")
	const price = dp.Nano + 0x01020304
	b := open(t, path)
	_, err := b.Keys(ctx, 2)
	must(t, err)
	must(t, b.Commit(ctx, []answer.Given{give(77, 1, price, "report"), give(78, 1, 1, "x")}))
	must(t, b.Close())
	row := append([]byte{77, 1}, make([]byte, 31)...)
	paid := binary.BigEndian.AppendUint32(nil, uint32(price))
	sqldbtest.FlipBits(t, path, func(what, path string) {
		b, err := spending.Open(ctx, path, 3*dp.Nano, "")
		if err != nil {
			return
		}
		defer b.Close()
		if broke, err := b.Broke(ctx, wire.Digest{2}, 3*dp.Nano-price+1, 100); err == nil && !broke[77] {
			t.Errorf("%s: an owner can pay more than was left", what)
		}
		if given := []answer.Given{give(77, 2, 3*dp.Nano-price+1, "more")}; b.Commit(ctx, given) == nil && given[0].Refused == nil {
			t.Errorf("%s: an owner pays more than was left", what)
		}
		again := []answer.Given{give(77, 1, 1, "another"), give(78, 1, 1, "another")}
		if err := b.Commit(ctx, again); err == nil && (string(again[0].Report) == "another" || string(again[1].Report) == "another") {
			t.Errorf("%s: an owner gives a second report", what)
		}
	}, row, paid)
}
