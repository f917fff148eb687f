// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// record is the permanent state of a party: the queries it has answered, and their total cost.
type record struct {
	db       *sqldb.DB
	lifetime dp.Epsilon
}

// The states of a query.
const (
	given     = 1 // charged: its votes may have been sent
	forgotten = 2 // charged, and its votes were deleted after the deadline
)

// The units of privacy of a record.
const (
	unitParty  = "party"
	unitPerson = "person"
)

// openRecord opens the record at path, or creates it. A record keeps its initial lifetime and unit.
func openRecord(ctx context.Context, path string, lifetime dp.Epsilon, unit string,
	anchors anchor.Folder) (*record, error) {
	db, err := sqldb.Open(ctx, path, sqldb.Options{Op: "party", Create: true, WAL: true, Anchors: anchors})
	if err != nil {
		return nil, err
	}
	err = db.Make(ctx,
		`CREATE TABLE IF NOT EXISTS discreet_party (one INTEGER PRIMARY KEY CHECK (one = 1), lifetime INTEGER NOT `+
			`NULL, unit TEXT NOT NULL) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_models (digest BLOB PRIMARY KEY CHECK (length(digest) = 32), epsilon INTEGER `+
			`NOT NULL CHECK (epsilon > 0)) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_queries (id BLOB PRIMARY KEY CHECK (length(id) = 32), combiner TEXT NOT `+
			`NULL, query BLOB NOT NULL, epsilon INTEGER NOT NULL CHECK (epsilon >= 0), deadline INTEGER NOT NULL, state `+
			`INTEGER NOT NULL) STRICT`,
		sqldb.Twice("discreet_models", "epsilon"), sqldb.Twice("discreet_queries", "epsilon, state"), sqldb.ProbeTable,
	)
	r, begun := &record{db: db}, ""
	if err == nil {
		err = db.Update(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(`INSERT INTO discreet_party (one, lifetime, unit) VALUES (1, ?, ?) ON CONFLICT (one) DO `+
				`NOTHING`, int64(lifetime), unit); err != nil {
				return err
			}
			_, err := tx.Find([]any{&r.lifetime, &begun}, `SELECT lifetime, unit FROM discreet_party`)
			return err
		})
	}
	if err == nil && begun != unit {
		err = &dp.ParamError{Op: "party", Param: "unit", Want: "must be that of the state, " + begun, Got: unit,
			Hint: "prices of parties and of persons do not add up"}
	}
	if err == nil && r.lifetime != lifetime {
		err = &dp.ParamError{Op: "party", Param: "lifetime epsilon", Want: "must be that of the state, " +
			r.lifetime.String(), Got: lifetime, Hint: "a promise once given is not changed"}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

// room is the free space in bytes that a ready record must have.
const room = 64 << 10

// probeRecord fails if a query could not be recorded now.
func (r *record) probeRecord(ctx context.Context) error { return r.db.Probe(ctx, room) }

// hasQuery reports whether a query was charged before.
func (r *record) hasQuery(ctx context.Context, id ID) (paid bool, err error) {
	var one int
	return r.db.Find(ctx, []any{&one}, `SELECT 1 FROM discreet_queries WHERE id = ?`, id[:])
}

// findQuery reports whether a query was charged before, and keeps its votes at least until the
// deadline. It refuses a query whose votes were deleted, and a new query that costs more than what is
// left.
func (r *record) findQuery(ctx context.Context, id ID, deadline time.Time, eps dp.Epsilon) (paid bool, err error) {
	err = r.db.Update(ctx, func(tx *sqldb.Tx) error {
		var state int
		paid, err = tx.Find([]any{&state}, `SELECT state FROM discreet_queries WHERE id = ?`, id[:])
		switch {
		case err != nil:
			return err
		case paid && state == forgotten:
			return problem.New(problem.Late, "the votes were given until a deadline, and deleted")
		case paid:
			_, err := tx.Exec(`UPDATE discreet_queries SET deadline = ? WHERE id = ? AND deadline < ?`, deadline.Unix(), id[:],
				deadline.Unix())
			return err
		}
		return r.checkLeft(tx, eps)
	})
	return paid, err
}

// checkLeft refuses a query that costs more than what is left.
func (r *record) checkLeft(tx *sqldb.Tx, eps dp.Epsilon) error {
	spent, err := r.spentIn(tx)
	if err == nil && eps > r.lifetime-spent {
		err = problem.New(problem.Spent, "epsilon %s is asked, %s of %s is left", eps, r.lifetime-spent, r.lifetime)
	}
	return err
}

// chargeQuery records a query, once. It refuses a query that costs more than what is left.
func (r *record) chargeQuery(ctx context.Context, id ID, combiner string, text []byte, eps dp.Epsilon,
	deadline time.Time) error {
	return r.db.Update(ctx, func(tx *sqldb.Tx) error {
		var state int
		found, err := tx.Find([]any{&state}, `SELECT state FROM discreet_queries`+tx.Unindexed()+` WHERE id = ?`, id[:])
		if err == nil && !found { // in the table; what is added must not be in the index either
			err = r.checkLeft(tx, eps)
		}
		if err != nil || found {
			return err
		}
		return tx.One(`INSERT INTO discreet_queries (id, combiner, query, epsilon, deadline, state) VALUES (?, ?, `+
			`?, ?, ?, ?)`,
			id[:], combiner, text, int64(eps), deadline.Unix(), given)
	})
}

// chargeModel records a model that votes for persons, once: that pays for all its votes (6.2).
func (r *record) chargeModel(ctx context.Context, p PersonPrice) error {
	return r.db.Update(ctx, func(tx *sqldb.Tx) error {
		var paid dp.Epsilon
		found, err := tx.Find([]any{&paid}, `SELECT epsilon FROM discreet_models`+tx.Unindexed()+` WHERE digest = ?`, p.Model[:])
		if found || err != nil {
			return err
		}
		spent, err := r.spentIn(tx)
		if err != nil {
			return err
		}
		if p.Epsilon > r.lifetime-spent {
			return dp.Refuse("party", "model", fmt.Sprintf("must cost a person no more than is left of the lifetime, %s of %s",
				r.lifetime-spent, r.lifetime), p.Epsilon)
		}
		return tx.One(`INSERT INTO discreet_models (digest, epsilon) VALUES (?, ?)`, p.Model[:], int64(p.Epsilon))
	})
}

// spentIn adds up the costs of queries and models. Depending on the record's unit, one of the two
// costs nothing.
func (r *record) spentIn(tx *sqldb.Tx) (spent dp.Epsilon, err error) {
	_, err = tx.Find([]any{&spent}, `SELECT (SELECT COALESCE(SUM(epsilon), 0) FROM discreet_queries`+tx.Unindexed()+
		`) + (SELECT COALESCE(SUM(epsilon), 0) FROM discreet_models`+tx.Unindexed()+`)`)
	return spent, err
}

// forgetQueries marks the queries whose deadline has passed, and returns the others, whose votes may
// be kept.
func (r *record) forgetQueries(ctx context.Context, now time.Time) (kept map[ID]bool, err error) {
	kept = map[ID]bool{}
	err = r.db.Update(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`UPDATE discreet_queries SET state = ? WHERE state = ? AND deadline < ?`, forgotten, given,
			now.Unix()); err != nil {
			return err
		}
		return tx.Each(func(rows *sql.Rows) error {
			var id []byte
			err := rows.Scan(&id)
			kept[ID(id)] = true
			return err
		}, `SELECT id FROM discreet_queries WHERE state = ?`, given)
	})
	return kept, err
}

func (r *record) closeRecord() error { return r.db.Close() }
