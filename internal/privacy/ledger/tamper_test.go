// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// book makes a ledger with three published jobs.
func book(t testing.TB, p place) *Ledger {
	t.Helper()
	l := declare(t, p)
	for i := range 3 {
		out := filepath.Join(t.TempDir(), "m")
		if _, err := train(l, fmt.Sprintf("job%d", i), out,
			func() string { return fmt.Sprintf("result %d", i) }); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// TestTampering edits a ledger behind its back. Every edit must be noticed by
// Verify; those marked deep only where a head was kept elsewhere.
func TestTampering(t *testing.T) {
	edits := []struct {
		name, sql string
		deep      bool
	}{
		{name: "price lowered", sql: `UPDATE discreet_entries SET epsilon = 1 WHERE seq = 4`},
		{name: "total raised", sql: `UPDATE discreet_entries SET epsilon = epsilon * 2 WHERE seq = 2`},
		{name: "kind changed", sql: `UPDATE discreet_entries SET kind = 'refunded' WHERE seq = 4`},
		{name: "data set renamed", sql: `UPDATE discreet_entries SET dataset = 'other' WHERE seq = 4`},
		{name: "job renamed", sql: `UPDATE discreet_entries SET job = 'other' WHERE seq = 4`},
		{name: "delta changed", sql: `UPDATE discreet_entries SET delta = 1 WHERE seq = 4`},
		{name: "detail changed", sql: `UPDATE discreet_entries SET detail = '{}' WHERE seq = 3`},
		{name: "time changed", sql: `UPDATE discreet_entries SET at = '2000-01-01T00:00:00Z' WHERE seq = 5`},
		{name: "hash changed", sql: `UPDATE discreet_entries SET hash = prev WHERE seq = 5`},
		{name: "entry removed", sql: `DELETE FROM discreet_entries WHERE seq = 7`},
		{name: "entry removed and the rest moved up",
			sql: `DELETE FROM discreet_entries WHERE seq = 7; UPDATE discreet_entries SET seq = seq - 1 WHERE seq = 8`},
		{name: "entries exchanged", sql: `UPDATE discreet_entries SET seq = 100 WHERE seq = 7; UPDATE discreet_entries ` +
			`SET seq = 7 WHERE seq = 8; UPDATE discreet_entries SET seq = 8 WHERE seq = 100`},
		{name: "newest entry removed", sql: `DELETE FROM discreet_entries WHERE seq = 14`},
		{name: "everything removed", sql: `DELETE FROM discreet_entries`},
		{name: "head moved back", sql: `UPDATE discreet_head SET seq = 13`},
		{name: "head removed", sql: `DELETE FROM discreet_head`},
		{name: "result changed",
			sql: `UPDATE discreet_results SET bytes = (SELECT bytes FROM discreet_results ORDER BY request LIMIT 1)`},
		{name: "result removed", sql: `DELETE FROM discreet_results`},
		{name: "result added",
			sql: `INSERT INTO discreet_results SELECT 'new', bytes FROM discreet_results ORDER BY request LIMIT 1`},
		{name: "cut short, head and results included", deep: true,
			sql: `DELETE FROM discreet_results WHERE request IN (SELECT request FROM discreet_entries WHERE seq > 10);
				DELETE FROM discreet_entries WHERE seq > 10;
				UPDATE discreet_head SET seq = 10, hash = (SELECT hash FROM discreet_entries WHERE seq = 10)`},
	}
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for _, e := range edits {
			t.Run(e.name, func(t *testing.T) {
				p := fresh(t)
				l := book(t, p)
				h := verify(t, l)
				if h.Seq != 14 {
					t.Fatalf("%d entries", h.Seq)
				}
				if _, err := l.Verify(context.Background(), &h); err != nil {
					t.Fatalf("its own head: %v", err)
				}
				p.execute(t, e.sql)
				var damaged *Damaged
				_, err := l.Verify(context.Background(), nil)
				if (err == nil) != e.deep || err != nil && !errors.As(err, &damaged) {
					t.Errorf("without an anchor: %v", err)
				}
				if _, err := l.Verify(context.Background(), &h); !errors.As(err, &damaged) {
					t.Errorf("with an anchor: %v", err)
				}
			})
		}
	})
}

// TestDamagedHeadGrantsNothing: a step looks at the newest entry before it adds
// one.
func TestDamagedHeadGrantsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for _, sql := range []string{
			`DELETE FROM discreet_entries WHERE seq = 14`,
			`UPDATE discreet_entries SET job = 'x' WHERE seq = 14`,
			`UPDATE discreet_head SET hash = 'x'`,
			`DELETE FROM discreet_head`,
		} {
			p := fresh(t)
			l := book(t, p)
			p.execute(t, sql)
			var damaged *Damaged
			if err := charge(t.Context(), mustJob(t, l, request("new")), 1); !errors.As(err, &damaged) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})
}

// TestCutFile cuts and flips a SQLite file: what can still be read never has
// more left than there was.
func TestCutFile(t *testing.T) {
	t.Parallel()
	p := sqlitePlace(t)
	l := book(t, p)
	left := balanceOf(t, l).Left
	h := verify(t, l)
	must(t, l.Close())
	whole, err := os.ReadFile(p.address)
	must(t, err)
	try := func(name string, b []byte) {
		path := filepath.Join(t.TempDir(), "cut.db")
		must(t, os.WriteFile(path, b, 0o600))
		l, err := Open(context.Background(), path)
		if err != nil {
			return
		}
		defer l.Close()
		if _, err := l.Verify(context.Background(), &h); err != nil {
			return
		}
		if bs, err := l.Balances(context.Background(), "d"); err == nil && bs[0].Left > left {
			t.Errorf("%s: verified with %d left, there were %d", name, bs[0].Left, left)
		}
	}
	for n := 0; n < len(whole); n += 512 {
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	for at := 0; at < len(whole); at += 101 {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 1 << (at % 8)
		try(fmt.Sprintf("bit flipped at %d", at), flipped)
	}
}

// forge adds an entry to a data set with parts of 5 and a δ of 50, after a job that was charged, as somebody would
// who writes to the store and knows how entries are chained.
func forge(t *testing.T, change func(*Entry)) *Ledger {
	t.Helper()
	l, _ := inHeap()
	must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: 5, Delta: 50, Parts: towns}))
	j := mustJob(t, l, onPart("one", "north"))
	price, lines := bill(1)
	must(t, j.reservePrice(t.Context(), price, lines))
	must(t, l.store.update(t.Context(), func(t tx) error {
		e := j.newEntry(Began, price, encodeDetail(began{j.req.Terms}))
		change(&e)
		return l.addEntry(t, e)
	}))
	return l
}

// A chain that is whole is damaged all the same if its entries contradict each other.
func TestWholeChainsMayContradictThemselves(t *testing.T) {
	must(t, func() error { _, err := forge(t, func(*Entry) {}).Verify(t.Context(), nil); return err }())
	for what, change := range map[string]func(*Entry){
		"begins on another part":         func(e *Entry) { e.Part = "south" },
		"begins on all parts":            func(e *Entry) { e.Part = "" },
		"begins as another request":      func(e *Entry) { e.Request = "other" },
		"begins at another epsilon":      func(e *Entry) { e.Epsilon++ },
		"begins at another delta":        func(e *Entry) { e.Delta++ },
		"is reserved twice":              func(e *Entry) { e.Kind = Reserved },
		"is published before its result": func(e *Entry) { e.Kind = Published },
		"is of a part that there is not": func(e *Entry) { e.Kind, e.Job, e.Part = Reserved, "two", "west" },
		"exceeds the total's epsilon":    func(e *Entry) { e.Kind, e.Job, e.Epsilon = Reserved, "two", 5 },
		"exceeds the total's delta":      func(e *Entry) { e.Kind, e.Job, e.Delta = Reserved, "two", 51 },
	} {
		if _, err := forge(t, change).Verify(t.Context(), nil); !errors.As(err, new(*Damaged)) {
			t.Errorf("a job that %s: %v", what, err)
		}
	}
	// What is left is not read from sums that cannot be.
	for what, change := range map[string]func(*Entry){
		"epsilon": func(e *Entry) { e.Kind, e.Job, e.Epsilon = Reserved, "two", 5 },
		"delta":   func(e *Entry) { e.Kind, e.Job, e.Delta = Reserved, "two", 51 },
	} {
		if b, err := forge(t, change).Balances(t.Context(), "d"); !errors.As(err, new(*Damaged)) {
			t.Errorf("more %s is charged than there is: %v, balance %+v", what, err, b)
		}
	}
}
