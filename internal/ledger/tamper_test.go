// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
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

// TestDamagedLedgersGrantNothing: nothing is said of a damaged ledger, wherever the damage is.
func TestDamagedLedgersGrantNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for _, sql := range []string{
			`DELETE FROM discreet_entries WHERE seq = 16`,
			`UPDATE discreet_entries SET job = 'x' WHERE seq = 16`,
			`UPDATE discreet_head SET hash = 'x'`,
			`DELETE FROM discreet_head`,
			`UPDATE discreet_head SET format = 3`,
			`UPDATE discreet_entries SET epsilon = epsilon - 1 WHERE seq = 4`,
			`UPDATE discreet_entries SET at = 'x' WHERE seq = 1`,
		} {
			p := fresh(t)
			l := book(t, p)
			ctx, price, lines := t.Context(), dp.Price{Epsilon: 2}, []dp.Event{{Release: "r", Mechanism: "m", Epsilon: 2}}
			reading, running := mustJob(t, l, request("reading")), mustJob(t, l, request("running"))
			must(t, running.Charge(ctx, price, lines))
			p.execute(t, sql)
			for what, ask := range map[string]func() error{
				"a declaration": func() error { return l.Declare(ctx, Dataset{Name: "e", Epsilon: 1}) },
				"a balance":     func() error { _, err := l.Balances(ctx, "d"); return err },
				"a history":     func() error { return l.History(ctx, "d", func(Entry) error { return errInjected }) },
				"a report":      func() error { _, err := l.Report(ctx, "d"); return err },
				"its members":   func() error { _, err := l.Members(ctx, "d"); return err },
				"an anchor":     func() error { return l.Anchor(ctx, anchor.Folder(t.TempDir())) },
				"a job":         func() error { _, err := l.Job(ctx, request("new")); return err },
				"a stored job":  func() error { _, err := l.Job(ctx, request("job1")); return err },
				"a question":    func() error { return reading.Afford(ctx, price, lines) },
				"a charge":      func() error { return reading.Charge(ctx, price, lines) },
				"a request":     func() error { return reading.File(ctx, price, lines, "why") },
				"a result":      func() error { return running.Commit(ctx, []byte("result")) },
				"an end":        func() error { return running.Abandon(ctx, "why") },
				"an owner": func() error {
					return l.Appoint(ctx, ownerKey, Appointment{Dataset: "d", Role: Owner, Name: "o", Key: public(ownerKey)})
				},
				"a recovery": func() error { _, err := l.Recover(ctx, all); return err },
			} {
				if err := ask(); !errors.As(err, new(*Damaged)) {
					t.Errorf("%s: %s: %v", sql, what, err)
				}
			}
		}
	})
}

// TestCutFile cuts a SQLite file: what can still be read never has more left than there was.
func TestCutFile(t *testing.T) {
	t.Parallel()
	p := sqlitePlace(t)
	l := book(t, p)
	h, left := verify(t, l), balanceOf(t, l)
	must(t, l.Close())
	whole, err := os.ReadFile(p.address)
	must(t, err)
	for n := 0; n < len(whole); n += size.Of(512, 64) {
		saysNoMore(t, fmt.Sprintf("cut to %d bytes", n), whole[:n], h, left)
	}
}

// earlierIndexes are those of the ledgers of earlier programs, which added up what the second holds.
var earlierIndexes = []string{`CREATE INDEX discreet_entries_by_job ON discreet_entries (dataset, job, seq)`,
	`CREATE INDEX discreet_entries_by_kind ON discreet_entries (dataset, kind, part, epsilon, delta)`}

// TestNoBitGivesBudgetBack flips bits of a ledger's file, with the indexes of earlier programs and
// without: a ledger that still says something says what it said before. At full size it flips one bit in 97.
func TestNoBitGivesBudgetBack(t *testing.T) {
	t.Parallel()
	for name, indexes := range map[string][]string{"today's": nil, "earlier": earlierIndexes} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sqlitePlace(t)
			l := book(t, p)
			for _, sql := range indexes {
				p.execute(t, sql)
			}
			h, left := verify(t, l), balanceOf(t, l)
			must(t, l.Close())
			whole, err := os.ReadFile(p.address)
			must(t, err)
			for _, bit := range bitsToFlip(whole) {
				flipped := bytes.Clone(whole)
				flipped[bit/8] ^= 1 << (bit % 8)
				saysNoMore(t, fmt.Sprintf("bit %d of byte %d flipped", bit%8, bit/8), flipped, h, left)
			}
		})
	}
}

// bitsToFlip lists the bits of what an index holds of a price, and every so many others.
func bitsToFlip(b []byte) (bits []int) {
	for at := 0; at < 8*len(b); at += size.Of(1597, 97) {
		bits = append(bits, at)
	}
	for _, text := range []string{"ddeclared", "dbegan", "dreserved"} {
		if at := bytes.LastIndex(b, []byte(text)); at >= 0 {
			for bit := 8 * (at + len(text)); bit < 8*(at+len(text)+4); bit++ {
				bits = append(bits, bit)
			}
		}
	}
	return bits
}

// saysNoMore holds a damaged file to what the ledger said before.
func saysNoMore(t *testing.T, what string, b []byte, h Head, was Balance) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged.db")
	must(t, os.WriteFile(path, b, 0o600))
	l, err := Open(t.Context(), path)
	if err != nil {
		return
	}
	defer l.Close()
	_, verified := l.Verify(t.Context(), nil)
	_, anchored := l.Verify(t.Context(), &h)
	if bs, err := l.Balances(t.Context(), "d"); err == nil && !reflect.DeepEqual(bs[0], was) {
		t.Errorf("%s: %+v, was %+v; verify: %v, %v", what, bs[0], was, verified, anchored)
	} else if err != nil && verified == nil {
		t.Errorf("%s: verified, and shown: %v", what, err)
	}
	more := dp.Price{Epsilon: was.Left + 1}
	if j, err := l.Job(t.Context(), request("more")); err == nil && j.Afford(t.Context(), more, priced(more)) == nil {
		t.Errorf("%s: more than was left is granted; verify: %v, %v", what, verified, anchored)
	}
}

// TestNoIndexIsRead asks the database how it answers all that a ledger asks: from the rows of tables,
// even if there are indexes.
func TestNoIndexIsRead(t *testing.T) {
	t.Parallel()
	p := sqlitePlace(t)
	l := create(t, p)
	giveRoles(t, l, "d", dp.Nano)
	for _, sql := range append(earlierIndexes, `CREATE UNIQUE INDEX all_of_it ON discreet_entries (seq, at, kind, dataset, `+
		`part, job, request, epsilon, delta, detail, prev, hash)`, `CREATE INDEX results ON discreet_results (request, bytes)`,
		`CREATE INDEX head ON discreet_head (format, seq, hash)`) {
		p.execute(t, sql)
	}
	c, err := p.connector(false)
	must(t, err)
	asked := map[string]bool{}
	watched, err := connectLedger(t.Context(), listeningConnector{c, asked}, false, false)
	must(t, err)
	defer watched.Close()
	must(t, watched.Anchor(t.Context(), anchor.Folder(t.TempDir())))
	out := filepath.Join(t.TempDir(), "m")
	for range 2 {
		_, err = train(watched, "job", out, func() string { return "result" })
		must(t, err)
	}
	_, err = watched.Recover(t.Context(), all)
	must(t, err)
	_, err = watched.Report(t.Context(), "d")
	must(t, err)
	verify(t, watched)
	db := sql.OpenDB(c)
	defer db.Close()
	for q := range asked {
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q, make([]any, strings.Count(q, "?"))...)
		must(t, err)
		for rows.Next() {
			var id, parent, unused int
			var detail string
			must(t, rows.Scan(&id, &parent, &unused, &detail))
			if strings.Contains(detail, "INDEX") && !strings.Contains(detail, "VIRTUAL TABLE") {
				t.Errorf("%s\nreads: %s", q, detail)
			}
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
	}
	if len(asked) < 8 {
		t.Errorf("only %d questions: %v", len(asked), asked)
	}
}

// listeningConnector notes the statements that a ledger sends to its database.
type (
	listeningConnector struct {
		driver.Connector
		asked map[string]bool
	}
	listeningConn struct {
		driver.Conn
		asked map[string]bool
	}
)

func (c listeningConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return listeningConn{conn, c.asked}, err
}

func (c listeningConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c listeningConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	c.asked[q] = true
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c listeningConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if !strings.HasPrefix(q, "PRAGMA") {
		c.asked[q] = true
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

// forge adds an entry to a data set with parts of 5 and a δ of 50, after a job that was charged, as somebody would
// who writes to the store and knows how entries are chained.
func forge(t *testing.T, change func(*Entry)) *Ledger {
	t.Helper()
	l, _ := inHeap()
	must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: 5, Delta: 50, Parts: towns}))
	j := mustJob(t, l, onPart("one", "north"))
	price, lines := bill(1)
	price.Delta = 10
	must(t, j.reservePrice(t.Context(), price, lines))
	e := j.newEntry(Began, price, encodeDetail(began{j.req.Terms}))
	change(&e)
	addUnchecked(t, l, e, nil)
	return l
}

// addUnchecked chains an entry past the checks.
func addUnchecked(t *testing.T, l *Ledger, e Entry, key ed25519.PrivateKey) {
	t.Helper()
	must(t, l.update(t.Context(), func(b *books) error { return b.tx.append(l.chainEntry(b.head, e, key)) }))
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
		"exceeds the total's delta":      func(e *Entry) { e.Kind, e.Job, e.Delta = Reserved, "two", 41 },
	} {
		if _, err := forge(t, change).Verify(t.Context(), nil); !errors.As(err, new(*Damaged)) {
			t.Errorf("a job that %s: %v", what, err)
		}
	}
	// What is left is not read from sums that cannot be.
	for what, change := range map[string]func(*Entry){
		"epsilon": func(e *Entry) { e.Kind, e.Job, e.Epsilon = Reserved, "two", 5 },
		"delta":   func(e *Entry) { e.Kind, e.Job, e.Delta = Reserved, "two", 41 },
	} {
		if b, err := forge(t, change).Balances(t.Context(), "d"); !errors.As(err, new(*Damaged)) {
			t.Errorf("more %s is charged than there is: %v, balance %+v", what, err, b)
		}
	}
}
