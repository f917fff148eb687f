// SPDX-License-Identifier: Apache-2.0

// Package sqldbtest injects faults between a database and its user: a full disk, a failed sync, a
// commit whose answer is lost.
package sqldbtest

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
)

// Faults decides which calls fail. The zero value lets all succeed. It is safe for concurrent use.
type Faults struct {
	mu       sync.Mutex
	n        int
	happened bool
	all      bool
	writes   bool // all writing calls fail
	err      error
}

// Fail makes the n-th call from now on, 1 for the next, fail with err: before it has any effect, or
// after it has taken effect if happened is set.
func (f *Faults) Fail(n int, happened bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.happened, f.all, f.writes, f.err = n, happened, false, false, err
}

// FailAll makes every call fail with err before it has any effect, until Mend.
func (f *Faults) FailAll(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.all, f.writes, f.err = 0, true, false, err
}

// FailWrites makes every writing transaction fail with err until Mend: as on a full disk, existing
// data can still be read.
func (f *Faults) FailWrites(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.all, f.writes, f.err = 0, false, true, err
}

func (f *Faults) failWrite() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writes {
		return f.err
	}
	return nil
}

// Mend lets all calls succeed.
func (f *Faults) Mend() { f.Fail(0, false, nil) }

// Fired reports whether the planned failure has occurred.
func (f *Faults) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n <= 0
}

func (f *Faults) nextFault() (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all {
		return f.err, nil
	}
	if f.n--; f.n != 0 {
		return nil, nil
	}
	if f.happened {
		return nil, f.err
	}
	return f.err, nil
}

// callWithFault makes one call that may fail; undo releases its result if it does.
func (f *Faults) callWithFault(do func() error, undo func()) error {
	before, after := f.nextFault()
	if before != nil {
		undo()
		return before
	}
	if err := errors.Join(do(), after); err != nil {
		undo()
		return err
	}
	return nil
}

// Connector returns c with the faults: every connection, transaction, statement and row that
// database/sql requests is a call.
func (f *Faults) Connector(c driver.Connector) driver.Connector { return connector{c, f} }

type (
	connector struct {
		driver.Connector
		f *Faults
	}
	conn struct {
		driver.Conn
		f *Faults
	}
	tx struct {
		driver.Tx
		f *Faults
	}
	rows struct {
		driver.Rows
		f *Faults
	}
)

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	var in driver.Conn
	err := c.f.callWithFault(func() (err error) { in, err = c.Connector.Connect(ctx); return err }, func() {
		if in != nil {
			in.Close()
		}
	})
	if err != nil {
		return nil, err
	}
	return conn{in, c.f}, nil
}

func (c conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	var in driver.Tx
	if err := c.f.failWrite(); err != nil && !o.ReadOnly {
		return nil, err
	}
	err := c.f.callWithFault(func() (err error) { in, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o); return err },
		func() {
			if in != nil {
				in.Rollback() // as when the connection is dropped
			}
		})
	if err != nil {
		return nil, err
	}
	return tx{in, c.f}, nil
}

func (c conn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (r driver.Result, err error) {
	err = c.f.callWithFault(func() (err error) {
		r,
			err = c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
		return err
	}, func() {})
	return r, err
}

func (c conn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	var in driver.Rows
	err := c.f.callWithFault(func() (err error) {
		in,
			err = c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
		return err
	}, func() {
		if in != nil {
			in.Close()
		}
	})
	if err != nil {
		return nil, err
	}
	return rows{in, c.f}, nil
}

// Commit rolls back if it fails before taking effect, as a database does if its connection breaks.
func (t tx) Commit() error {
	before, after := t.f.nextFault()
	if before != nil {
		t.Tx.Rollback()
		return before
	}
	return errors.Join(t.Tx.Commit(), after)
}

func (r rows) Next(dest []driver.Value) (err error) {
	if failed := r.f.callWithFault(func() error { err = r.Rows.Next(dest); return nil }, func() {}); failed != nil {
		return failed
	}
	return err
}
