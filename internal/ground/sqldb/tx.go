// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Tx is a transaction of a database. Parameters are written as ?.
type Tx struct {
	ctx    context.Context
	t      *sql.Tx
	d      *DB
	wrote  bool // something that anchors cover
	unseen bool // what is written is not covered by anchors
}

// Exec runs a statement and returns how many rows it wrote.
func (t *Tx) Exec(q string, args ...any) (int64, error) {
	r, err := t.t.ExecContext(t.ctx, t.d.numberParameters(q), args...)
	if err != nil {
		return 0, t.d.wrapError(err)
	}
	n, err := r.RowsAffected()
	t.wrote = t.wrote || !t.unseen && n > 0
	return n, t.d.wrapError(err)
}

// One runs a statement that must write exactly one row.
func (t *Tx) One(q string, args ...any) error {
	n, err := t.Exec(q, args...)
	if err == nil && n != 1 {
		err = t.d.wrapError(fmt.Errorf("%d rows written where 1 was expected", n))
	}
	return err
}

// Prepare prepares a statement that runs many times in this transaction.
func (t *Tx) Prepare(q string) (*sql.Stmt, error) {
	t.wrote = true
	s, err := t.t.PrepareContext(t.ctx, t.d.numberParameters(q))
	return s, t.d.wrapError(err)
}

// Find scans the first row of a query; found is false if there is none.
func (t *Tx) Find(into []any, q string, args ...any) (found bool, err error) {
	err = t.t.QueryRowContext(t.ctx, t.d.numberParameters(q), args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, t.d.wrapError(err)
}

// Each calls scan for every row of a query, in order.
func (t *Tx) Each(scan func(*sql.Rows) error, q string, args ...any) error {
	rows, err := t.t.QueryContext(t.ctx, t.d.numberParameters(q), args...)
	if err != nil {
		return t.d.wrapError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return t.d.wrapError(rows.Err())
}

// Share returns the suffix of a SELECT whose rows no other transaction may change before this one
// ends, though others may share them. Lock returns the suffix if no other may share them. Both are
// empty if Update excludes other writers anyway.
func (t *Tx) Share() string { return t.addLock(" FOR SHARE") }

// Lock: see Share.
func (t *Tx) Lock() string { return t.addLock(" FOR UPDATE") }

// Unindexed returns the suffix of a table's name in a SELECT that reads the rows of the table itself.
// SQLite would otherwise answer from an index that contains all that is asked for, even one that it
// made for a PRIMARY KEY: a second copy of the cells, which may differ after damage to the file. It is
// empty for a server.
func (t *Tx) Unindexed() string {
	if t.d.numbered {
		return ""
	}
	return " NOT INDEXED"
}

func (t *Tx) addLock(words string) string {
	if t.d.numbered {
		return words
	}
	return ""
}

// numberParameters numbers a statement's parameters if the database requires that. Our statements have
// no question mark inside a string.
func (d *DB) numberParameters(q string) string {
	if !d.numbered {
		return q
	}
	var b strings.Builder
	for i, part := range strings.Split(q, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}
