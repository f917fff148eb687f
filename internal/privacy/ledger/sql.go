// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/sqldb"
)

// Versions of the tables. Version 3 adds cohorts and roles, and version 4 the two sides of a table. They
// have the tables of version 2, but contain entries that a program for an earlier version would count
// wrongly. A ledger gets its version with the first such entry. Other versions are refused.
const (
	format        = 2
	formatCohorts = 3
	formatSides   = 4
)

// sqlStore is a store in a SQL database.
type sqlStore struct{ db *sqldb.DB }

// tables are the statements that create an empty ledger.
var tables = []string{
	`CREATE TABLE discreet_head (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL, seq INTEGER NOT ` +
		`NULL, hash TEXT NOT NULL) STRICT`,
	`CREATE TABLE discreet_entries (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, dataset TEXT NOT ` +
		`NULL, part TEXT NOT NULL, job TEXT NOT NULL, request TEXT NOT NULL, epsilon INTEGER NOT NULL CHECK (epsilon >= ` +
		`0), delta INTEGER NOT NULL CHECK (delta >= 0), detail TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT`,
	`CREATE INDEX discreet_entries_by_job ON discreet_entries (dataset, job, seq)`,
	`CREATE INDEX discreet_entries_by_kind ON discreet_entries (dataset, kind, part, epsilon, delta)`,
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

func (t *sqlTx) head() (h Head, err error) {
	version, n := 0, 0
	err = t.Each(func(r *sql.Rows) error { n++; return r.Scan(&version, &h.Seq, &h.Hash) },
		`SELECT format, seq, hash FROM discreet_head`)
	switch {
	case err != nil:
		return h, err
	case n != 1:
		return h, &Damaged{0, "the record of the newest entry is missing"}
	case version < format || version > formatSides:
		return h, fmt.Errorf("format must be from %d to %d (got %d); use the discreet that wrote it", format, formatSides, version)
	}
	return h, nil
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

const columns = `SELECT seq, at, kind, dataset, part, job, request, epsilon, delta, detail, prev, hash FROM ` +
	`discreet_entries `

func scanEntry(r *sql.Rows) (e Entry, err error) {
	var kind, detail string
	var eps, delta int64
	err = r.Scan(&e.Seq, &e.At, &kind, &e.Dataset, &e.Part, &e.Job, &e.Request, &eps, &delta, &detail, &e.Prev, &e.Hash)
	e.Kind, e.Epsilon, e.Delta, e.Detail = Kind(kind), dp.Epsilon(eps), dp.Delta(delta), []byte(detail)
	return e, err
}

func (t *sqlTx) entries(dataset, job string, f func(Entry) error) error {
	q, args := columns+`ORDER BY seq`, []any(nil)
	switch {
	case job != "":
		q, args = columns+`WHERE dataset = ? AND job = ? ORDER BY seq`, []any{dataset, job}
	case dataset != "":
		q, args = columns+`WHERE dataset = ? ORDER BY seq`, []any{dataset}
	}
	return t.eachEntry(f, q, args...)
}

func (t *sqlTx) eachEntry(f func(Entry) error, q string, args ...any) error {
	return t.Each(func(r *sql.Rows) error {
		e, err := scanEntry(r)
		if err != nil {
			return err
		}
		return f(e)
	}, q, args...)
}

func (t *sqlTx) ofKinds(dataset string, f func(Entry) error, kinds ...Kind) error {
	args := []any{dataset}
	for _, k := range kinds {
		args = append(args, string(k))
	}
	return t.eachEntry(f, columns+`WHERE dataset = ? AND kind IN (?`+strings.Repeat(`, ?`, len(kinds)-1)+`) ORDER BY seq`, args...)
}

func (t *sqlTx) latest() (at string, err error) {
	_, err = t.Find([]any{&at}, `SELECT COALESCE(MAX(at), '') FROM discreet_entries`)
	return at, err
}

func (t *sqlTx) entry(q string, args ...any) (e Entry, found bool, err error) {
	err = t.eachEntry(func(one Entry) error {
		e, found = one, true
		return nil
	}, q, args...)
	return e, found, err
}

func (t *sqlTx) last() (Entry, bool, error) {
	return t.entry(columns + `ORDER BY seq DESC LIMIT 1`)
}

func (t *sqlTx) entryAt(seq int64) (Entry, bool, error) {
	return t.entry(columns+`WHERE seq = ?`, seq)
}

func (t *sqlTx) first(dataset string, kind Kind) (Entry, bool, error) {
	return t.entry(columns+`WHERE dataset = ? AND kind = ? ORDER BY seq LIMIT 1`, dataset, string(kind))
}

func (t *sqlTx) datasets() (names []string, err error) {
	err = t.Each(func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT dataset FROM discreet_entries WHERE kind = ? ORDER BY seq`, string(Declared))
	return names, err
}

func (t *sqlTx) sums(dataset string) (sums, error) {
	out := sums{}
	return out, t.Each(func(r *sql.Rows) error {
		var kind, part string
		var eps, delta int64
		if err := r.Scan(&kind, &part, &eps, &delta); err != nil {
			return err
		}
		out[sumKey{Kind(kind), part}] = dp.Price{Epsilon: dp.Epsilon(eps), Delta: dp.Delta(delta)}
		return nil
	}, `SELECT kind, part, CAST(SUM(epsilon) AS BIGINT), CAST(SUM(delta) AS BIGINT) FROM discreet_entries WHERE `+
		`dataset = ? GROUP BY kind, part`, dataset)
}

func (t *sqlTx) unfinished() (out []Entry, err error) {
	err = t.Each(func(r *sql.Rows) error {
		e, err := scanEntry(r)
		out = append(out, e)
		return err
	}, columns+`WHERE kind IN (?, ?, ?) AND NOT EXISTS (SELECT 1 FROM discreet_entries AS later
		WHERE later.dataset = discreet_entries.dataset AND later.job = discreet_entries.job
		AND later.seq > discreet_entries.seq) ORDER BY seq`,
		string(Reserved), string(Began), string(Committed))
	return out, err
}

func (t *sqlTx) putResult(request string, result []byte) error {
	return t.One(`INSERT INTO discreet_results VALUES (?, ?)`, request, result)
}

func (t *sqlTx) result(request string) (b []byte, err error) {
	err = t.Each(func(r *sql.Rows) error { return r.Scan(&b) }, `SELECT bytes FROM discreet_results WHERE request = ?`,
		request)
	return b, err
}

func (t *sqlTx) results(f func(string) error) error {
	return t.Each(func(r *sql.Rows) error {
		var request string
		if err := r.Scan(&request); err != nil {
			return err
		}
		return f(request)
	}, `SELECT request FROM discreet_results ORDER BY request`)
}
