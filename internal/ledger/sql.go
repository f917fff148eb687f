// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// Versions of the tables. Version 3 adds cohorts and roles, and version 4 the two sides of a table,
// and version 5 the totals of institutions. They have the tables of version 2, but contain entries that a program for an earlier version would count
// wrongly. A ledger gets its version with the first such entry. Other versions are refused.
const (
	format        = 2
	formatCohorts = 3
	formatSides   = 4
	formatBounded = 5
)

// sqlStore is a store in a SQL database.
type sqlStore struct{ db *sqldb.DB }

// tables are the statements that create an empty ledger. Entries have no index: it would be a copy of
// their cells that no hash covers. Ledgers of earlier programs have two, which are not read.
var tables = []string{
	`CREATE TABLE discreet_head (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL, seq INTEGER NOT ` +
		`NULL, hash TEXT NOT NULL) STRICT`,
	`CREATE TABLE discreet_entries (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, dataset TEXT NOT ` +
		`NULL, part TEXT NOT NULL, job TEXT NOT NULL, request TEXT NOT NULL, epsilon INTEGER NOT NULL CHECK (epsilon >= ` +
		`0), delta INTEGER NOT NULL CHECK (delta >= 0), detail TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT`,
	`CREATE TABLE discreet_results (request TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT`,
	`INSERT INTO discreet_head VALUES (1, ` + strconv.Itoa(format) + `, 0, '')`,
}

func (s *sqlStore) close() error { return s.db.Close() }

func (s *sqlStore) create(ctx context.Context) error { return s.db.Make(ctx, tables...) }

func (s *sqlStore) update(ctx context.Context, f func(tx) error) error {
	return s.db.Update(ctx, func(t *sqldb.Tx) error {
		// With PostgreSQL writers queue for the lock of the one row of
		// discreet_head: anyone who holds it sees everything committed before.
		if lock := t.Lock(); lock != "" {
			if _, err := t.Exec(`SELECT seq FROM discreet_head` + lock); err != nil {
				return err
			}
		}
		return f(&sqlTx{t})
	})
}

func (s *sqlStore) view(ctx context.Context, f func(tx) error) error {
	return s.db.View(ctx, func(t *sqldb.Tx) error { return f(&sqlTx{t}) })
}

type sqlTx struct{ *sqldb.Tx }

func (t *sqlTx) head() (h Head, version int, err error) {
	n := 0
	err = t.Each(func(r *sql.Rows) error { n++; return r.Scan(&version, &h.Seq, &h.Hash) },
		`SELECT format, seq, hash FROM discreet_head`)
	switch {
	case err != nil:
		return h, 0, err
	case n != 1:
		return h, 0, &Damaged{0, "the record of the newest entry is missing"}
	case version < format || version > formatBounded:
		return h, 0, fmt.Errorf("format must be from %d to %d (got %d); use the discreet that wrote it", format, formatBounded,
			version)
	}
	return h, version, nil
}

func (t *sqlTx) raiseFormat(to int) error {
	_, err := t.Exec(`UPDATE discreet_head SET format = ? WHERE format < ?`, to, to)
	return err
}

func (t *sqlTx) append(e Entry) error {
	err := t.One(`INSERT INTO discreet_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Seq, e.At, string(e.Kind), e.Dataset, e.Part, e.Job, e.Request, int64(e.Epsilon), int64(e.Delta), string(e.Detail),
		e.Prev, e.Hash)
	if err != nil {
		return err
	}
	return t.One(`UPDATE discreet_head SET seq = ?, hash = ? WHERE seq = ? AND hash = ?`, e.Seq, e.Hash, e.Seq-1, e.Prev)
}

func scanEntry(r *sql.Rows) (e Entry, err error) {
	var kind, detail string
	var eps, delta int64
	err = r.Scan(&e.Seq, &e.At, &kind, &e.Dataset, &e.Part, &e.Job, &e.Request, &eps, &delta, &detail, &e.Prev, &e.Hash)
	e.Kind, e.Epsilon, e.Delta, e.Detail = Kind(kind), dp.Epsilon(eps), dp.Delta(delta), []byte(detail)
	return e, err
}

// entries reads the table itself, whatever indexes the database has.
func (t *sqlTx) entries(f func(Entry) error) error {
	return t.Each(func(r *sql.Rows) error {
		e, err := scanEntry(r)
		if err != nil {
			return err
		}
		return f(e)
	}, `SELECT seq, at, kind, dataset, part, job, request, epsilon, delta, detail, prev, hash FROM discreet_entries`+
		t.Unindexed()+` ORDER BY seq`)
}

func (t *sqlTx) putResult(request string, result []byte) error {
	return t.One(`INSERT INTO discreet_results VALUES (?, ?)`, request, result)
}

func (t *sqlTx) result(request string) (b []byte, err error) {
	err = t.Each(func(r *sql.Rows) error { return r.Scan(&b) },
		`SELECT bytes FROM discreet_results`+t.Unindexed()+` WHERE request = ?`, request)
	return b, err
}

func (t *sqlTx) results(f func(string, []byte) error) error {
	return t.Each(func(r *sql.Rows) error {
		var request string
		var b []byte
		if err := r.Scan(&request, &b); err != nil {
			return err
		}
		return f(request, b)
	}, `SELECT request, bytes FROM discreet_results`+t.Unindexed())
}
