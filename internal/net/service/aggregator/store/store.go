// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// ID identifies a task: the hash of its bytes.
type ID [sha256.Size]byte

// Store is an open store. It is safe for concurrent use.
type Store struct{ db *sqldb.DB }

// ErrUnknown reports that the task does not exist.
var ErrUnknown = errors.New("store: there is no such task")

// ErrMoved reports that the round is not in the state that the call requires: it was sealed, advanced
// or ended meanwhile.
var ErrMoved = errors.New("store: the round has moved on")

// ErrFew reports that a round has fewer reports than its minimum.
var ErrFew = errors.New("store: the round has too few reports")

// ErrFailed is wrapped by every error of the database itself: the same call may succeed later.
var ErrFailed = sqldb.ErrFailed

// Options are the options for opening a store's database.
//
// It uses a write-ahead log, because reports arrive in many small commits.
var Options = sqldb.Options{Op: "store", Create: true, WAL: true}

// At opens the store at address, a path or postgres://user@host/database, and creates it if it does
// not exist. It is checked against its anchor in a folder, unless that is "".
func At(ctx context.Context, address string, anchors anchor.Folder) (*Store, error) {
	o := Options
	o.Anchors = anchors
	db, err := sqldb.Open(ctx, address, o)
	if err != nil {
		return nil, err
	}
	return On(ctx, db)
}

// On opens the store in a database. Close also closes the database.
func On(ctx context.Context, db *sqldb.DB) (*Store, error) {
	err := db.Make(ctx,
		`CREATE TABLE IF NOT EXISTS discreet_tasks (id BLOB PRIMARY KEY, made INTEGER NOT NULL, bytes BLOB NOT NULL, `+
			`certificate BLOB NOT NULL, signature BLOB NOT NULL, state INTEGER NOT NULL, model BLOB) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_rounds (task BLOB NOT NULL, round INTEGER NOT NULL, state INTEGER NOT NULL, `+
			`broadcast BLOB NOT NULL, deadline INTEGER NOT NULL, PRIMARY KEY (task, round)) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_notes (task BLOB NOT NULL, round INTEGER NOT NULL, note BLOB NOT NULL, `+
			`PRIMARY KEY (task, round)) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_rosters (digest BLOB PRIMARY KEY, keys BLOB NOT NULL) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_reports (task BLOB NOT NULL, round INTEGER NOT NULL, owner BLOB NOT NULL, `+
			`digest BLOB NOT NULL, body BLOB, PRIMARY KEY (task, round, owner)) STRICT`,
		viaTable, secretTable, sqldb.Twice("discreet_tasks", "state"), sqldb.Twice("discreet_rounds", "state"), sqldb.ProbeTable,
	)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{db}, nil
}

// Probe fails if the store could not store the given number of bytes.
func (s *Store) Probe(ctx context.Context, room int) error { return s.db.Probe(ctx, room) }

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// State is the state of a task or a round.
type State int

// The states. A task is Open, Done (it has its model) or Ended (without a model). A round is Open,
// Sealed (it accepts no more reports) or Done (its result is stored).
const (
	Open State = 1 + iota
	Sealed
	Done
	Ended
)

// Task is a task as its operator signed it.
type Task struct {
	ID                     ID
	Made                   time.Time
	Bytes                  []byte
	Certificate, Signature []byte
	State                  State
}

// Keep stores a list of owners under its hash. Storing the same list again has no effect.
func (s *Store) Keep(ctx context.Context, roster []byte) error {
	digest := sha256.Sum256(roster)
	return s.db.Take(ctx, len(roster), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO discreet_rosters (digest, keys) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING`,
			digest[:], roster)
		return err
	})
}

// Roster returns the list of owners with that hash.
func (s *Store) Roster(ctx context.Context, digest [sha256.Size]byte) (roster []byte, err error) {
	err = s.find(ctx, []any{&roster}, `SELECT keys FROM discreet_rosters WHERE digest = ?`, digest[:])
	return roster, err
}

// find scans the only row of a query, or returns ErrUnknown.
func (s *Store) find(ctx context.Context, into []any, q string, args ...any) error {
	found, err := s.db.Find(ctx, into, q, args...)
	if err == nil && !found {
		err = ErrUnknown
	}
	return err
}

// Round is one round of a task.
type Round struct {
	Number    int // from 0
	State     State
	Broadcast []byte // sent to its owners
	Deadline  time.Time
}

// Create stores a task and opens its first round. Creating the same task again has no effect.
func (s *Store) Create(ctx context.Context, t Task, first Round) error {
	return s.db.Take(ctx, len(t.Bytes)+len(first.Broadcast), func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`INSERT INTO discreet_tasks (id, made, bytes, certificate, signature, state) VALUES (?, ?, ?, `+
			`?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			t.ID[:], t.Made.UnixMilli(), t.Bytes, t.Certificate, t.Signature, Open)
		if err != nil || n == 0 {
			return err
		}
		return openRound(tx, t.ID, first)
	})
}

func openRound(tx *sqldb.Tx, id ID, r Round) error {
	return tx.One(`INSERT INTO discreet_rounds (task, round, state, broadcast, deadline) VALUES (?, ?, ?, ?, ?)`,
		id[:], r.Number, Open, r.Broadcast, r.Deadline.UnixMilli())
}

const taskColumns = `SELECT id, made, bytes, certificate, signature, state FROM discreet_tasks `

// Tasks lists the IDs of all tasks, the newest first.
func (s *Store) Tasks(ctx context.Context) (ids []ID, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Each(func(r *sql.Rows) error {
			var id []byte
			err := r.Scan(&id)
			ids = append(ids, ID{})
			copy(ids[len(ids)-1][:], id)
			return err
		}, `SELECT id FROM discreet_tasks ORDER BY made DESC, id`)
	})
	return ids, err
}

func scanTask(r *sql.Rows) (t Task, err error) {
	var id []byte
	var made int64
	err = r.Scan(&id, &made, &t.Bytes, &t.Certificate, &t.Signature, &t.State)
	copy(t.ID[:], id)
	t.Made = time.UnixMilli(made)
	return t, err
}

// Task returns one task and its newest round.
func (s *Store) Task(ctx context.Context, id ID) (t Task, r Round, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		var found bool
		if err := tx.Each(func(rows *sql.Rows) (err error) {
			found = true
			t, err = scanTask(rows)
			return err
		}, taskColumns+`WHERE id = ?`, id[:]); err != nil {
			return err
		}
		if !found {
			return ErrUnknown
		}
		var deadline int64
		ok, err := tx.Find([]any{&r.Number, &r.State, &r.Broadcast, &deadline},
			`SELECT round, state, broadcast, deadline FROM discreet_rounds WHERE task = ? ORDER BY round DESC LIMIT 1`, id[:])
		if err == nil && !ok {
			err = fmt.Errorf("store: task %x has no round", id)
		}
		r.Deadline = time.UnixMilli(deadline)
		return err
	})
	return t, r, err
}

// Progress is the progress of a task.
type Progress struct {
	Task   State
	Number int // of the newest round
	Round  State
}

// Now returns a task's progress, at less cost than Task.
func (s *Store) Now(ctx context.Context, id ID) (p Progress, err error) {
	err = s.find(ctx, []any{&p.Task, &p.Number, &p.Round},
		`SELECT t.state, r.round, r.state FROM discreet_tasks t JOIN discreet_rounds r ON r.task = t.id WHERE t.id = ? `+
			`ORDER BY r.round DESC LIMIT 1`, id[:])
	return p, err
}

// Model returns a finished task's model; nil if there is none.
func (s *Store) Model(ctx context.Context, id ID) (model []byte, err error) {
	err = s.find(ctx, []any{&model}, `SELECT model FROM discreet_tasks WHERE id = ?`, id[:])
	return model, err
}

// Any means any round of a task, for End.
const Any = -1

// End ends a task without a model. A task that is done or ended stays so. If round is not Any, the
// task is ended only while that round accepts reports.
func (s *Store) End(ctx context.Context, id ID, round int) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		var state State
		found, err := tx.Find([]any{&state}, `SELECT state FROM discreet_tasks WHERE id = ?`+tx.Lock(), id[:])
		if err == nil && !found {
			err = ErrUnknown
		}
		if err != nil || state != Open {
			return err
		}
		if round != Any {
			switch open, err := roundState(tx, id, round, tx.Lock()); {
			case err != nil:
				return err
			case open != Open:
				return ErrMoved
			}
		}
		if _, err := tx.Exec(`UPDATE discreet_rounds SET state = ? WHERE task = ? AND state = ?`, Sealed, id[:],
			Open); err != nil {
			return err
		}
		return s.finishTask(tx, id, Ended, nil)
	})
}

// finishTask sets a task's final state and deletes the bodies of its reports.
func (s *Store) finishTask(tx *sqldb.Tx, id ID, state State, model []byte) error {
	if err := tx.One(`UPDATE discreet_tasks SET state = ?, model = ? WHERE id = ?`, state, model, id[:]); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE discreet_reports SET body = NULL WHERE task = ?`, id[:])
	return err
}

// Seal makes an open round accept no more reports, if it has at least least of them; otherwise it
// changes nothing and returns ErrFew. It may be called again.
func (s *Store) Seal(ctx context.Context, id ID, round, least int) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		state, err := roundState(tx, id, round, tx.Lock())
		switch {
		case err != nil || state == Sealed:
			return err
		case state != Open:
			return ErrMoved
		}
		switch n, err := countReports(tx, id, round); {
		case err != nil:
			return err
		case n < least:
			return ErrFew
		}
		return tx.One(`UPDATE discreet_rounds SET state = ? WHERE task = ? AND round = ?`, Sealed, id[:], round)
	})
}

// roundState returns 0 if the round does not exist.
func roundState(tx *sqldb.Tx, id ID, round int, lock string) (state State, err error) {
	_, err = tx.Find([]any{&state}, `SELECT state FROM discreet_rounds WHERE task = ? AND round = ?`+lock, id[:], round)
	return state, err
}

// Advance stores the result of a sealed round: the next round, or the model if next is nil. Storing
// the same result again has no effect. A different one is refused, because two answers to the same
// reports would reveal more than one.
func (s *Store) Advance(ctx context.Context, id ID, round int, next *Round, model []byte) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		state, err := roundState(tx, id, round, tx.Lock())
		if err != nil {
			return err
		}
		switch state {
		case Sealed:
		case Done:
			return s.sameAgain(tx, id, next, model)
		default:
			return ErrMoved
		}
		var task State
		if _, err := tx.Find([]any{&task}, `SELECT state FROM discreet_tasks WHERE id = ?`+tx.Lock(), id[:]); err != nil {
			return err
		}
		if task != Open {
			return ErrMoved
		}
		if err := tx.One(`UPDATE discreet_rounds SET state = ? WHERE task = ? AND round = ?`, Done, id[:],
			round); err != nil {
			return err
		}
		if next != nil {
			return openRound(tx, id, *next)
		}
		return s.finishTask(tx, id, Done, model)
	})
}

func (s *Store) sameAgain(tx *sqldb.Tx, id ID, next *Round, model []byte) error {
	want, q, args := model, `SELECT model FROM discreet_tasks WHERE id = ?`, []any{id[:]}
	if next != nil {
		want, q, args = next.Broadcast, `SELECT broadcast FROM discreet_rounds WHERE task = ? AND round = ?`,
			[]any{id[:], next.Number}
	}
	var have []byte
	if _, err := tx.Find([]any{&have}, q, args...); err != nil {
		return err
	}
	if !bytes.Equal(have, want) {
		return fmt.Errorf("%w: what follows from the round was stored before, and differs", ErrMoved)
	}
	return nil
}
