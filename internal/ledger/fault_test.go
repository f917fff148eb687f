// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

var errInjected = errors.New("injected fault")

// fault makes the n-th call fail, in one of two ways: nothing happened, or it
// happened and was reported as failed.
type fault struct {
	n        int
	happened bool
	fired    bool
}

// call is one call that may fail. undo is for calls that must leave nothing
// open when they fail; it may be nil.
func (f *fault) call(do func() error, undo func()) error {
	f.n--
	if f.n != 0 {
		return do()
	}
	f.fired = true
	if !f.happened {
		if undo != nil {
			undo()
		}
		return errInjected
	}
	return errors.Join(do(), errInjected)
}

// The database behind a fault: every call through database/sql counts.
type (
	faultyConnector struct {
		driver.Connector
		f *fault
	}
	faultyConn struct {
		driver.Conn
		f *fault
	}
	faultyTx struct {
		driver.Tx
		f *fault
	}
	faultyRows struct {
		driver.Rows
		f *fault
	}
)

func (c faultyConnector) Connect(ctx context.Context) (conn driver.Conn, err error) {
	err = c.f.call(func() (err error) { conn, err = c.Connector.Connect(ctx); return err }, nil)
	if err != nil {
		if conn != nil {
			conn.Close()
		}
		return nil, err
	}
	return faultyConn{conn, c.f}, nil
}

func (c faultyConn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = c.f.call(func() (err error) { tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o); return err }, nil)
	if err != nil {
		if tx != nil {
			tx.Rollback() // as when the connection is dropped
		}
		return nil, err
	}
	return faultyTx{tx, c.f}, nil
}

func (c faultyConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (r driver.Result, err error) {
	err = c.f.call(func() (err error) { r, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args); return err },
		nil)
	return r, err
}

func (c faultyConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (r driver.Rows, err error) {
	err = c.f.call(func() (err error) { r, err = c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args); return err },
		nil)
	if err != nil {
		if r != nil {
			r.Close()
		}
		return nil, err
	}
	return faultyRows{r, c.f}, nil
}

func (t faultyTx) Commit() error { return t.f.call(t.Tx.Commit, func() { t.Tx.Rollback() }) }

func (r faultyRows) Next(dest []driver.Value) error {
	var end error
	err := r.f.call(func() error { end = r.Rows.Next(dest); return nil }, nil)
	if err != nil {
		return err
	}
	return end
}

// faultyFiles is the disk behind a fault.
type faultyFiles struct {
	disk
	f *fault
}

type faultyFile struct {
	file
	f *fault
}

func (d faultyFiles) create(path string) (f file, err error) {
	err = d.f.call(func() (err error) { f, err = d.disk.create(path); return err }, nil)
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	return faultyFile{f, d.f}, nil
}
func (d faultyFiles) rename(from, to string) error {
	return d.f.call(func() error { return d.disk.rename(from, to) }, nil)
}
func (d faultyFiles) remove(path string) error {
	return d.f.call(func() error { return d.disk.remove(path) }, nil)
}
func (d faultyFiles) syncFolder(path string) error {
	return d.f.call(func() error { return d.disk.syncFolder(path) }, nil)
}
func (d faultyFiles) read(path string) (b []byte, err error) {
	err = d.f.call(func() (err error) { b, err = d.disk.read(path); return err }, nil)
	return b, err
}

func (f faultyFile) Write(b []byte) (n int, err error) {
	err = f.f.call(func() (err error) { n, err = f.file.Write(b); return err },
		func() { n, _ = f.file.Write(b[:len(b)/2]) }) // a full disk takes the first half
	return n, err
}
func (f faultyFile) Sync() error  { return f.f.call(f.file.Sync, nil) }
func (f faultyFile) Close() error { return f.f.call(f.file.Close, func() { f.file.Close() }) }

const price = dp.Epsilon(1000)

// train is what the command does with a job. drew is what was drawn, if
// anything was.
func train(l *Ledger, id, out string, fresh func() string) (drew string, err error) {
	ctx := context.Background()
	b, err := l.Balances(ctx, "d") // in as many calls however many jobs there were
	if err != nil {
		return "", err
	}
	req := request(id)
	if b[0].CohortBy != "" {
		req = by(aliceKey, id, ownCohorts(id)...)
	}
	req.Output = out
	j, err := approvedJob(ctx, l, req)
	if err != nil {
		return "", err
	}
	if j.Stored() != nil {
		return "", j.Publish(ctx, out)
	}
	if err := charge(ctx, j, price/2, price/2); err != nil {
		return "", err
	}
	drew = fresh()
	if err := j.Commit(ctx, []byte(drew)); err != nil {
		return drew, err
	}
	return drew, j.Publish(ctx, out)
}

// approvedJob is the job of a request; where it has a key it is asked for and approved first, from
// whatever step an interrupted run has left it in.
func approvedJob(ctx context.Context, l *Ledger, req Request) (*Job, error) {
	j, err := l.Job(ctx, req)
	var conflict *Conflict
	waits := errors.As(err, &conflict) && conflict.State == Requested
	if err != nil && !waits || req.By == nil || j != nil && j.Stored() != nil {
		return j, err
	}
	if !waits {
		p, b := bill(price/2, price/2)
		err := j.File(ctx, p, b, "to see who returns")
		if errors.As(err, &conflict) && conflict.State == Approved {
			return j, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if err := l.Decide(ctx, officerKey, Decision{Dataset: "d", Job: req.ID, Approve: true}); err != nil {
		return nil, err
	}
	return l.Job(ctx, req)
}

// ownCohorts are the cohorts of a job: one that all jobs read, so that the data set spends what they
// cost together, and one of five.
func ownCohorts(id string) []string {
	n := 0
	for _, c := range id {
		n += int(c)
	}
	return []string{"all", fmt.Sprintf("b%d", n%5)}
}

// starts are how the ledgers of faults and kills begin: a data set for everyone, and one with cohorts,
// whose jobs are approved and charged to an allotment.
var starts = map[string]func(testing.TB, place) *Ledger{
	"plain": declare,
	"roles": func(t testing.TB, p place) *Ledger {
		l := create(t, p)
		giveRoles(t, l, "d", dp.Nano)
		return l
	},
}

// sumsAreRight tells a ledger's sums again from its entries, one by one: of each cohort, and of alice.
func sumsAreRight(t testing.TB, l *Ledger) {
	t.Helper()
	b := balanceOf(t, l)
	spent, all := map[string]dp.Epsilon{}, dp.Epsilon(0)
	reserved := map[string]bool{}
	must(t, l.History(context.Background(), "d", func(e Entry) error {
		switch e.Kind {
		case Reserved:
			reserved[e.Job] = true
		case Refunded:
			delete(reserved, e.Job)
		case Began:
			if all += e.Epsilon; !reserved[e.Job] {
				t.Errorf("job %s began and was not reserved", e.Job)
			}
			if b.CohortBy != "" {
				for _, name := range ownCohorts(e.Job) {
					spent[name] += e.Epsilon
				}
			}
		}
		return nil
	}))
	for _, p := range b.ByPart {
		if p.Spent.Epsilon != spent[p.Name] || p.Reserved.Epsilon != 0 {
			t.Errorf("cohort %s: %+v, its entries add up to %d", p.Name, p.Use, spent[p.Name])
		}
	}
	if b.Spent != all {
		t.Errorf("%d is spent, the entries add up to %d", b.Spent, all)
	}
	who, err := l.Members(context.Background(), "d")
	must(t, err)
	for _, m := range who {
		if m.Name == "alice" && dp.Epsilon(*m.Charged) != all {
			t.Errorf("alice is charged %d of %d", *m.Charged, all)
		}
	}
}

// settled checks what must hold after a fault and a recovery, whatever failed:
// what was drawn is spent; at most one draw has a result;
// the file is that result, entire; the same ID draws again only if nothing
// was drawn.
func settled(t testing.TB, l *Ledger, id, out, drew string, before Balance, fresh func() string) {
	t.Helper()
	if _, err := l.Recover(context.Background(), all); err != nil {
		t.Fatalf("%s: recover: %v", id, err)
	}
	b := balanceOf(t, l)
	cost := b.Spent - before.Spent
	if b.Reserved != 0 || cost != 0 && cost != price || drew != "" && cost != price {
		t.Fatalf("%s: drew %q, cost %d, still reserved %d", id, drew, cost, b.Reserved)
	}
	file, err := os.ReadFile(out)
	switch {
	case err == nil && (drew == "" || string(file) != drew):
		t.Fatalf("%s: the file holds %q, drawn was %q", id, file, drew)
	case err == nil && cost != price:
		t.Fatalf("%s: a result left that nobody paid for", id)
	}
	left := err == nil
	again, err := train(l, id, out, fresh)
	var conflict *Conflict
	switch {
	case left && (err != nil || again != ""):
		t.Fatalf("%s: a result left that was not committed: %v", id, err)
	case err == nil && again != "" && drew != "":
		t.Fatalf("%s was drawn twice", id)
	case err == nil && again == "":
		if file, _ := os.ReadFile(out); string(file) != drew {
			t.Fatalf("%s: the same ID gave %q, drawn was %q", id, file, drew)
		}
	case err != nil && !errors.As(err, &conflict):
		t.Fatalf("%s: the same ID: %v", id, err)
	}
}

// everyFault runs f with a fault at the first call, the second, ... until f
// makes fewer calls than that, each in both ways; in short tests, and where a
// call is slow, at every stride-th. It returns how many faults there were.
func everyFault(t *testing.T, stride int, f func(t *testing.T, name string, fault *fault)) (n int) {
	for _, happened := range []bool{false, true} {
		for at := 1; ; at++ {
			fault := &fault{n: at, happened: happened}
			f(t, fmt.Sprintf("call%d-%t", at, happened), fault)
			if !fault.fired {
				break
			}
			n++
			at += stride - 1
		}
	}
	return n
}

// TestFaultsOfTheDatabase fails every call to the database, during a training
// and during a recovery.
func TestFaultsOfTheDatabase(t *testing.T) {
	for name, start := range starts {
		t.Run(name, func(t *testing.T) { failTheDatabase(t, start) })
	}
}

func failTheDatabase(t *testing.T, start func(testing.TB, place) *Ledger) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		l := start(t, p)
		// Every step reads all entries, so that each fault has a ledger of its own: else there would always
		// be one more call to fail.
		renew := func(t *testing.T) {
			sumsAreRight(t, l)
			verify(t, l)
			must(t, l.Close())
			p = fresh(t)
			l = start(t, p)
		}
		folder := t.TempDir()
		draws := 0
		draw := func() string { draws++; return fmt.Sprintf("draw %d", draws) }
		stride := size.Of(25, 3)
		if balanceOf(t, l).CohortBy != "" || p.postgres {
			stride *= 3
		}
		faulty := func(t *testing.T, f *fault) (*Ledger, error) {
			c, err := p.connector(false)
			must(t, err)
			return connectLedger(context.Background(), faultyConnector{c, f}, p.postgres, false)
		}
		n := everyFault(t, stride, func(t *testing.T, name string, f *fault) {
			renew(t)
			id := "train-" + name
			out := filepath.Join(folder, id)
			before := balanceOf(t, l)
			drew := ""
			if bad, err := faulty(t, f); err == nil {
				drew, err = train(bad, id, out, draw)
				if err == nil && f.fired {
					t.Errorf("%s: a fault went unnoticed", name)
				}
				bad.Close()
			}
			settled(t, l, id, out, drew, before, draw)
		})
		verify(t, l)
		t.Logf("%d faults in a training", n)
		m := everyFault(t, stride, func(t *testing.T, name string, f *fault) {
			renew(t)
			id := "recover-" + name
			out := filepath.Join(folder, id)
			before := balanceOf(t, l)
			req := request(id)
			if balanceOf(t, l).CohortBy != "" {
				req = by(aliceKey, id, ownCohorts(id)...)
			}
			req.Output = out
			j, err := approvedJob(t.Context(), l, req)
			must(t, err)
			must(t, charge(t.Context(), j, price/2, price/2))
			drew := draw()
			must(t, j.Commit(t.Context(), []byte(drew)))
			if bad, err := faulty(t, f); err == nil {
				bad.Recover(context.Background(), all) // whatever it says
				bad.Close()
			}
			settled(t, l, id, out, drew, before, draw)
		})
		verify(t, l)
		sumsAreRight(t, l)
		t.Logf("%d faults in a recovery", m)
		if n < 150/stride || m < 60/stride {
			t.Errorf("only %d and %d calls were made to fail", n, m)
		}
	})
}

// TestFaultsOfTheFileSystem fails every call that publishing makes.
func TestFaultsOfTheFileSystem(t *testing.T) {
	t.Parallel()
	p := sqlitePlace(t)
	l := declare(t, p)
	folder := t.TempDir()
	draws := 0
	draw := func() string { draws++; return fmt.Sprintf("draw %d", draws) }
	n := everyFault(t, 1, func(t *testing.T, name string, f *fault) {
		bad := create(t, p)
		bad.files = faultyFiles{f: f}
		out := filepath.Join(folder, name)
		before := balanceOf(t, l)
		drew, err := train(bad, name, out, draw)
		if err == nil && f.fired {
			t.Errorf("%s: not noticed", name)
		}
		settled(t, l, name, out, drew, before, draw)
	})
	if n < 12 {
		t.Errorf("only %d calls were made to fail", n)
	}
	verify(t, l)
	t.Logf("%d faults", n)
}
