// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// place is an empty database of either kind.
type place struct {
	address   string
	connector func(create bool) (driver.Connector, error)
	postgres  bool
	execute   func(t testing.TB, sql string) // behind the ledger's back
}

// onBoth runs f on both stores. fresh gives an empty database.
func onBoth(t *testing.T, f func(t *testing.T, fresh func(t testing.TB) place)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, sqlitePlace)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := server(t)
		f(t, func(t testing.TB) place {
			address := s.Database(t)
			return place{address,
				func(create bool) (driver.Connector, error) { return newConnector(address, create) }, true,
				func(t testing.TB, sql string) {
					t.Helper()
					c, err := newConnector(address, false)
					must(t, err)
					execute(t, c, sql)
				}}
		})
	})
}

// postgres is started by the first test that asks for it and serves all.
var postgres = sync.OnceValues(func() (*ledgertest.Server, error) {
	s, why, err := ledgertest.Postgres()
	if s == nil && err == nil {
		err = errNone(why)
	}
	started = s
	return s, err
})

var started *ledgertest.Server

// errNone is why there is no server.
type errNone string

func (e errNone) Error() string { return string(e) }

func server(t testing.TB) *ledgertest.Server {
	t.Helper()
	s, err := postgres()
	if none := errNone(""); errors.As(err, &none) {
		t.Skip(none)
	}
	must(t, err)
	return s
}

func TestMain(m *testing.M) {
	child() // does not return in a process that a test started
	code := m.Run()
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func sqlitePlace(t testing.TB) place {
	path := filepath.Join(t.TempDir(), "ledger.db")
	return place{path,
		func(create bool) (driver.Connector, error) { return newConnector(path, create) }, false,
		func(t testing.TB, sql string) {
			t.Helper()
			c, err := newConnector(path, false)
			if err != nil {
				t.Fatal(err)
			}
			execute(t, c, sql)
		}}
}

func create(t testing.TB, p place) *Ledger {
	t.Helper()
	l, err := Create(context.Background(), p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// declare makes a ledger with one data set, d, of ε = 1.
func declare(t testing.TB, p place) *Ledger {
	t.Helper()
	l := create(t, p)
	if err := l.Declare(context.Background(), Dataset{Name: "d", Epsilon: dp.Nano, Note: "for tests"}); err != nil {
		t.Fatal(err)
	}
	return l
}

func request(id string) Request {
	return Request{Dataset: "d", ID: id, Config: []byte("config"), Worker: "w",
		Terms: Terms{Unit: "row", Relation: dp.ReplaceOne, Protected: []string{"a", "b"}}}
}

// bill is a bill of pure releases with its price.
func bill(prices ...dp.Epsilon) (price dp.Price, b []dp.Event) {
	for _, p := range prices {
		b = append(b, dp.Event{Release: "r", Mechanism: "laplace", Epsilon: p})
	}
	return dp.Pure(b), b
}

// charge charges j with a bill of pure releases.
func charge(ctx context.Context, j *Job, prices ...dp.Epsilon) error {
	price, b := bill(prices...)
	return j.Charge(ctx, price, b)
}

func mustJob(t testing.TB, l *Ledger, req Request) *Job {
	t.Helper()
	j, err := l.Job(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func balanceOf(t testing.TB, l *Ledger) Balance {
	t.Helper()
	b, err := l.Balances(context.Background(), "d")
	if err != nil {
		t.Fatal(err)
	}
	return b[0]
}

func verify(t testing.TB, l *Ledger) Head {
	t.Helper()
	h, err := l.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func all(string) bool  { return true }
func none(string) bool { return false }

func TestJobGoesItsWay(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := declare(t, fresh(t))
		out := filepath.Join(t.TempDir(), "m.json")
		req := request("one")
		req.Output = out
		j := mustJob(t, l, req)
		if j.Stored() != nil || !j.Counted() {
			t.Error("a fresh job has a result or does not count")
		}
		must(t, charge(t.Context(), j, 300_000_000, 100_000_000))
		if b := balanceOf(t, l); b.Spent != 400_000_000 || b.Reserved != 0 || b.Left != 600_000_000 {
			t.Errorf("after the charge: %+v", b)
		}
		if err := j.Publish(t.Context(), out); err == nil {
			t.Error("a result was published before it was committed")
		}
		must(t, j.Commit(t.Context(), []byte("bytes")))
		must(t, j.Commit(t.Context(), []byte("bytes")))
		if err := j.Commit(t.Context(), []byte("other")); err == nil {
			t.Error("a second result was committed")
		}
		must(t, j.Publish(t.Context(), out))
		must(t, j.Publish(t.Context(), out))
		if b, err := disk.read(disk{}, out); err != nil || string(b) != "bytes" {
			t.Errorf("published %q, %v", b, err)
		}
		again := mustJob(t, l, req)
		if string(again.Stored()) != "bytes" {
			t.Errorf("the same ID returns %q", again.Stored())
		}
		if err := charge(t.Context(), again, 1); err == nil {
			t.Error("a finished job was charged again")
		}
		if b := balanceOf(t, l); b.Spent != 400_000_000 {
			t.Errorf("a retry changed what is spent: %+v", b)
		}
		var kinds []Kind
		must(t, l.History(context.Background(), "d", func(e Entry) error { kinds = append(kinds, e.Kind); return nil }))
		if got := strings.Join(words(kinds), " "); got != "declared reserved began committed published" {
			t.Errorf("history: %s", got)
		}
		verify(t, l)
	})
}

func words(kinds []Kind) (out []string) {
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}

func TestRefusals(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		ctx := context.Background()
		var missing *Missing
		if _, err := Open(ctx, p.address); err == nil {
			t.Error("a ledger that is not there was opened")
		}
		l := create(t, p)
		if _, err := l.Balances(ctx, "d"); !errors.As(err, &missing) {
			t.Errorf("balance of a data set that is not there: %v", err)
		}
		if _, err := l.Job(ctx, request("x")); !errors.As(err, &missing) {
			t.Errorf("job on a data set that is not there: %v", err)
		}
		for _, d := range []Dataset{{}, {Name: "a/b", Epsilon: 1}, {Name: "a", Epsilon: 0}, {Name: "a", Epsilon: -1},
			{Name: "a", Epsilon: dp.MaxEpsilon + 1}, {Name: "a", Epsilon: 1, Delta: -1},
			{Name: "a", Epsilon: 1, Delta: dp.Femto}, {Name: "a", Epsilon: 1, Note: "a\nb"}} {
			var p *dp.ParamError
			if err := l.Declare(ctx, d); !errors.As(err, &p) {
				t.Errorf("Declare(%+v): %v", d, err)
			}
		}
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: dp.Nano}))
		if err := l.Declare(ctx, Dataset{Name: "d", Epsilon: 2 * dp.Nano}); err == nil {
			t.Error("a total was declared twice")
		}
		for _, prices := range [][]dp.Epsilon{nil, {0}, {-1}, {1, 0}, {1, -1}, {dp.MaxEpsilon, dp.MaxEpsilon},
			{1 << 62, 1 << 62, 1 << 62}, {dp.MaxEpsilon + 1}} {
			var p *dp.ParamError
			if err := charge(t.Context(), mustJob(t, l, request("bad")), prices...); !errors.As(err, &p) {
				t.Errorf("Charge(%v): %v", prices, err)
			}
		}
		for _, id := range []string{"", "a b", "a/b", strings.Repeat("x", 129), "ü"} {
			if _, err := l.Job(ctx, request(id)); err == nil {
				t.Errorf("job ID %q was accepted", id)
			}
		}
		must(t, charge(t.Context(), mustJob(t, l, request("one")), 900_000_000))
		var exceeded *Exceeded
		if err := charge(t.Context(), mustJob(t, l, request("two")), 100_000_001); !errors.As(err, &exceeded) ||
			exceeded.Spent != 900_000_000 || exceeded.Asked != 100_000_001 || exceeded.Limit != dp.Nano {
			t.Errorf("beyond the total: %v", err)
		}
		price, events := bill(1)
		price.Delta = 1
		if err := mustJob(t, l, request("delta")).Charge(t.Context(), price, events); !errors.As(err, &exceeded) ||
			exceeded.AskedDelta != 1 {
			t.Errorf("a delta on a pure budget: %v", err)
		}
		must(t, charge(t.Context(), mustJob(t, l, request("three")), 100_000_000)) // exactly what is left
		var conflict *Conflict
		other := request("one")
		other.Config = []byte("another")
		if _, err := l.Job(ctx, other); !errors.As(err, &conflict) {
			t.Errorf("the same ID for another configuration: %v", err)
		}
		if _, err := l.Job(ctx, request("one")); !errors.As(err, &conflict) {
			t.Errorf("an unfinished job was given out again: %v", err)
		}
		verify(t, l)
	})
}

func TestTermsMustAgree(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := declare(t, fresh(t))
		must(t, charge(t.Context(), mustJob(t, l, request("first")), 1))
		for name, change := range map[string]func(*Terms){
			"unit":     func(m *Terms) { m.Unit = "household" },
			"relation": func(m *Terms) { m.Relation = dp.AddRemove },
			"private":  func(m *Terms) { m.Protected = []string{"a", "c"} },
		} {
			req := request(name)
			change(&req.Terms)
			var p *dp.ParamError
			if _, err := l.Job(context.Background(), req); !errors.As(err, &p) || !strings.Contains(p.Param, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		more := request("more")
		more.Terms.Protected = []string{"a", "b", "c"}
		must(t, charge(t.Context(), mustJob(t, l, more), 1))
	})
}

func TestExactlyTenOfAHundred(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		declare(t, p)
		spenders := 100
		var wg sync.WaitGroup
		errs := make([]error, spenders)
		for i := range spenders {
			wg.Add(1)
			go func() {
				defer wg.Done()
				l, err := Open(context.Background(), p.address) // each its own connections
				if err != nil {
					errs[i] = err
					return
				}
				defer l.Close()
				j, err := l.Job(context.Background(), request("job"+string(rune('A'+i/26))+string(rune('a'+i%26))))
				if err == nil {
					err = charge(t.Context(), j, dp.Nano/10)
				}
				errs[i] = err
			}()
		}
		wg.Wait()
		granted, refused := 0, 0
		for _, err := range errs {
			var exceeded *Exceeded
			switch {
			case err == nil:
				granted++
			case errors.As(err, &exceeded):
				refused++
			default:
				t.Error(err)
			}
		}
		if granted != 10 || refused != 90 {
			t.Errorf("%d granted and %d refused, want 10 and 90", granted, refused)
		}
		l, err := Open(context.Background(), p.address)
		must(t, err)
		defer l.Close()
		if b := balanceOf(t, l); b.Spent != dp.Nano || b.Left != 0 {
			t.Errorf("%+v", b)
		}
		verify(t, l)
	})
}

func TestOneIDIsDrawnOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := declare(t, fresh(t))
		var wg sync.WaitGroup
		granted := make(chan int, 20)
		for i := range 20 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				j, err := l.Job(context.Background(), request("same"))
				if err == nil && charge(t.Context(), j, 1000) == nil {
					granted <- i
				}
			}()
		}
		wg.Wait()
		if len(granted) != 1 {
			t.Errorf("one ID was granted %d times", len(granted))
		}
		if b := balanceOf(t, l); b.Spent != 1000 || b.Reserved != 0 {
			t.Errorf("%+v", b)
		}
	})
}
