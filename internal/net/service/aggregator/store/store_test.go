// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

var server *ledgertest.Server

func TestMain(m *testing.M) {
	var err error
	var why string
	server, why, err = ledgertest.Postgres()
	if server == nil {
		fmt.Fprintln(os.Stderr, errors.Join(errors.New("store: "+why), err))
	}
	code := m.Run()
	if server != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// onBoth runs f on an empty store of either kind; again opens the same one.
func onBoth(t *testing.T, f func(t *testing.T, again func() *store.Store)) {
	for kind, address := range map[string]func(testing.TB) string{
		"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "state.db") },
		"postgres": func(t testing.TB) string {
			if server == nil {
				t.Skip("no PostgreSQL server here")
			}
			return server.Database(t)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			at := address(t)
			f(t, func() *store.Store {
				s, err := store.At(t.Context(), at, "")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			})
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func task(name string) store.Task {
	return store.Task{ID: sha256.Sum256([]byte(name)), Made: time.UnixMilli(1), Bytes: []byte(name),
		Certificate: []byte("c"), Signature: []byte("s")}
}

func round(n int) store.Round {
	return store.Round{Number: n, Broadcast: fmt.Appendf(nil, "broadcast %d", n), Deadline: time.UnixMilli(1000)}
}

func report(t store.Task, round int, owner uint64, body string) store.Report {
	r := store.Report{Task: t.ID, Round: round, Body: []byte(body)}
	binary.BigEndian.PutUint64(r.Owner[:], owner)
	return r
}

func acceptReports(t *testing.T, s *store.Store, reports ...store.Report) []store.Outcome {
	t.Helper()
	out, err := s.Accept(t.Context(), reports)
	must(t, err)
	return out
}

// TestLifeOfATask goes through every outcome, opening the store again at each
// step: what one process acknowledged, the next one knows.
func TestLifeOfATask(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		ctx := t.Context()
		a := task("a")
		must(t, again().Create(ctx, a, round(0)))
		must(t, again().Create(ctx, a, round(0)))
		want := func(step string, got []store.Outcome, want ...store.Outcome) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", step, got, want)
			}
		}
		want("open", acceptReports(t, again(), report(a, 0, 2, "two"), report(a, 0, 1, "one"), report(a, 0, 2, "two"),
			report(a, 0, 1, "other"), report(a, 1, 3, "three"), report(task("b"), 0, 1, "one")),
			store.Stored, store.Stored, store.Again, store.Replayed, store.Early, store.Early)
		if err := again().Reports(ctx, a.ID, 0, nil); !errors.Is(err, store.ErrMoved) {
			t.Errorf("read an open round: %v", err)
		}
		if err := again().Advance(ctx, a.ID, 0, nil, []byte("m")); !errors.Is(err, store.ErrMoved) {
			t.Errorf("advanced an open round: %v", err)
		}
		if err := again().Seal(ctx, a.ID, 0, 3); !errors.Is(err, store.ErrFew) {
			t.Errorf("sealed a round of two where three must report: %v", err)
		}
		must(t, again().Seal(ctx, a.ID, 0, 2))
		if err := again().End(ctx, a.ID, 0); !errors.Is(err, store.ErrMoved) {
			t.Errorf("ended a task by a round that was sealed: %v", err)
		}
		must(t, again().Seal(ctx, a.ID, 0, 2))
		want("sealed", acceptReports(t, again(), report(a, 0, 1, "one"), report(a, 0, 1, "other"), report(a, 0, 9, "nine")),
			store.Again, store.Replayed, store.Late)
		var read []string
		must(t, again().Reports(ctx, a.ID, 0, func(owner [32]byte, body []byte) error {
			read = append(read, fmt.Sprint(binary.BigEndian.Uint64(owner[:]), string(body)))
			return nil
		}))
		if !slices.Equal(read, []string{"1one", "2two"}) {
			t.Errorf("read %q", read)
		}
		next := round(1)
		must(t, again().Advance(ctx, a.ID, 0, &next, nil))
		must(t, again().Advance(ctx, a.ID, 0, &next, nil))
		other := next
		other.Broadcast = []byte("else")
		if err := again().Advance(ctx, a.ID, 0, &other, nil); !errors.Is(err, store.ErrMoved) {
			t.Errorf("a second answer to the same reports was stored: %v", err)
		}
		want("next", acceptReports(t, again(), report(a, 0, 9, "nine"), report(a, 1, 3, "three")), store.Late, store.Stored)
		if _, r, err := again().Task(ctx, a.ID); err != nil || r.Number != 1 || r.State != store.Open ||
			!bytes.Equal(r.Broadcast, next.Broadcast) || !r.Deadline.Equal(next.Deadline) {
			t.Errorf("the newest round is %+v, %v", r, err)
		}
		must(t, again().Seal(ctx, a.ID, 1, 1))
		must(t, again().Advance(ctx, a.ID, 1, nil, []byte("model")))
		must(t, again().Advance(ctx, a.ID, 1, nil, []byte("model")))
		must(t, again().End(ctx, a.ID, store.Any))
		if m, err := again().Model(ctx, a.ID); err != nil || string(m) != "model" {
			t.Errorf("the model is %q, %v", m, err)
		}
		want("done", acceptReports(t, again(), report(a, 0, 1, "one"), report(a, 0, 1, "other"), report(a, 1, 9, "nine")),
			store.Again, store.Replayed, store.Late)
		if tasks, err := again().Tasks(ctx); err != nil || !slices.Equal(tasks, []store.ID{a.ID}) {
			t.Errorf("tasks %x, %v", tasks, err)
		}
		if got, _, err := again().Task(ctx, a.ID); err != nil || got.State != store.Done || !bytes.Equal(got.Bytes, a.Bytes) {
			t.Errorf("task %+v, %v", got, err)
		}
		if got, err := again().Now(ctx, a.ID); err != nil ||
			got != (store.Progress{Task: store.Done, Number: 1, Round: store.Done}) {
			t.Errorf("progress %+v, %v", got, err)
		}
		if _, _, err := again().Task(ctx, task("b").ID); !errors.Is(err, store.ErrUnknown) {
			t.Errorf("a task that is not there: %v", err)
		}
	})
}

func TestEndedTaskTakesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		s, a := again(), task("a")
		must(t, s.Create(t.Context(), a, round(0)))
		acceptReports(t, s, report(a, 0, 1, "one"))
		must(t, s.End(t.Context(), a.ID, store.Any))
		if got := acceptReports(t, s, report(a, 0, 2, "two"),
			report(a, 0, 1, "one")); !slices.Equal(got, []store.Outcome{store.Late, store.Again}) {
			t.Errorf("got %v", got)
		}
		next := round(1)
		if err := s.Advance(t.Context(), a.ID, 0, &next, nil); !errors.Is(err, store.ErrMoved) {
			t.Errorf("an ended task went on: %v", err)
		}
	})
}

// TestConcurrentUploadsAgainstAModel sends the same reports, some of them
// altered, from several clients while the round is sealed. What each client was
// told must agree with what the sealed round holds.
func TestConcurrentUploadsAgainstAModel(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		ctx := t.Context()
		s, a := again(), task("a")
		must(t, s.Create(ctx, a, round(0)))
		const clients, owners = 6, 120
		type told struct {
			report  store.Report
			outcome store.Outcome
		}
		var wg sync.WaitGroup
		heard := make([][]told, clients)
		for c := range clients {
			r := rand.New(rand.NewPCG(7, uint64(c)))
			wg.Go(func() {
				for _, first := range r.Perm(owners / 10) {
					var batch []store.Report
					for i := range 10 {
						batch = append(batch, report(a, 0, uint64(first*10+i), fmt.Sprintf("%d.%d", i, r.IntN(2))))
					}
					out, err := s.Accept(ctx, batch)
					if err != nil {
						t.Error(err)
						return
					}
					for i, o := range out {
						heard[c] = append(heard[c], told{batch[i], o})
					}
				}
			})
		}
		wg.Go(func() {
			for range 20 {
				if n, err := s.Count(ctx, a.ID, 0); err != nil || n > owners/2 {
					break
				}
			}
			if err := s.Seal(ctx, a.ID, 0, 0); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		stored := map[[32]byte]string{}
		must(t, s.Reports(ctx, a.ID, 0, func(owner [32]byte, body []byte) error {
			stored[owner] = string(body)
			return nil
		}))
		first := map[[32]byte]int{}
		for _, h := range slices.Concat(heard...) {
			body, in := stored[h.report.Owner]
			same := in && body == string(h.report.Body)
			ok := false
			switch h.outcome {
			case store.Stored:
				first[h.report.Owner]++
				ok = same
			case store.Again:
				ok = same
			case store.Replayed:
				ok = in && !same
			case store.Late:
				ok = !in
			}
			if !ok {
				t.Errorf("owner %x was told %v, the round holds it: %v, the same bytes: %v", h.report.Owner[:8], h.outcome,
					in, same)
			}
		}
		for owner := range stored {
			if first[owner] != 1 {
				t.Errorf("owner %x was told %d times that its report was stored now", owner[:8], first[owner])
			}
		}
	})
}

func BenchmarkAccept(b *testing.B) {
	s, err := store.At(context.Background(), filepath.Join(b.TempDir(), "state.db"), "")
	must(b, err)
	defer s.Close()
	a := task("a")
	must(b, s.Create(b.Context(), a, round(0)))
	const batch = 1000
	body := make([]byte, 24)
	var key uint64
	for b.Loop() {
		reports := make([]store.Report, batch)
		for i := range reports {
			reports[i] = report(a, 0, rand.Uint64(), string(body)+fmt.Sprint(key))
			key++
		}
		_, err := s.Accept(b.Context(), reports)
		must(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/report")
}

// TestNoBitDecidesTwice flips bits of a store: one that can still be opened takes no second report of an
// owner, no other sum and no other result.
func TestNoBitDecidesTwice(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "state.db")
	s, err := store.At(ctx, path, "")
	must(t, err)
	ended, sealed, open := task("ended"), task("sealed"), task("open")
	for _, a := range []store.Task{ended, sealed, open} {
		must(t, s.Create(ctx, a, round(0)))
		acceptReports(t, s, report(a, 0, 0x0b0b0b0b0b0b0b0b, "first"))
	}
	must(t, s.Seal(ctx, sealed.ID, 0, 1))
	_, err = s.Assemble(ctx, sealed.ID, 0, store.Secret{Broadcast: []byte("b"), Sum: []byte("sum"), Certificate: []byte("c"),
		Signature: []byte("s")})
	must(t, err)
	_, err = s.Hold(ctx, sealed.ID, 0, []byte("held"))
	must(t, err)
	must(t, s.Seal(ctx, ended.ID, 0, 1))
	must(t, s.Advance(ctx, ended.ID, 0, nil, []byte("model")))
	must(t, s.Close())
	sqldbtest.FlipBits(t, path, func(what, path string) {
		s, err := store.At(ctx, path, "")
		if err != nil {
			return
		}
		defer s.Close()
		for _, a := range []store.Task{open, sealed, ended} {
			again := []store.Report{report(a, 0, 0x0b0b0b0b0b0b0b0b, "second")}
			if out, err := s.Accept(ctx, again); err == nil && out[0] == store.Stored {
				t.Errorf("%s: a second report of an owner is taken by the task %s", what, a.Bytes)
			}
		}
		if x, err := s.Assemble(ctx, sealed.ID, 0, store.Secret{Broadcast: []byte("b"), Sum: []byte("SUM"), Certificate: []byte("c"),
			Signature: []byte("s")}); err == nil && string(x.Sum) == "SUM" {
			t.Errorf("%s: another sum is assembled", what)
		}
		if held, err := s.Hold(ctx, sealed.ID, 0, []byte("HELD")); err == nil && string(held) == "HELD" {
			t.Errorf("%s: other owners are held", what)
		}
		_ = s.Create(ctx, ended, round(0))
		_ = s.Seal(ctx, ended.ID, 0, 1)
		if err := s.Advance(ctx, ended.ID, 0, nil, []byte("another")); err == nil {
			t.Errorf("%s: another model is stored", what)
		}
	}, ended.ID[:], sealed.ID[:], open.ID[:], bytes.Repeat([]byte{0x0b}, 8))
}
