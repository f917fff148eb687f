// SPDX-License-Identifier: Apache-2.0

// Package book is an owner's memory: its key, what it has reported for which
// task, and how much privacy that has cost in all. One SQLite file holds the
// memory of one owner, or of the many whose data one machine keeps.
//
// Room rules. Owns: owners' keys and ledgers. Imports: dp, local/wire,
// local/owner, internal/sqldb. Must never see: rows, noise, the network.
package book

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/sqldb"
	"github.com/discreet-dp/discreet/local/owner"
	"github.com/discreet-dp/discreet/local/wire"
)

// Book is an open book. Goroutines may share it.
type Book struct {
	db  *sqldb.DB
	cap dp.Epsilon
}

// ErrSpent says that a report would cost more than what is left.
var ErrSpent = errors.New("book: the report would exceed what the owner is ready to give in all")

// Open opens the book at path, or begins one. lifetime is how much all reports
// of one owner may cost together; a book keeps the one it was begun with.
func Open(ctx context.Context, path string, lifetime dp.Epsilon) (*Book, error) {
	if lifetime < 1 || lifetime > dp.MaxEpsilon {
		return nil, &dp.ParamError{Op: "book", Param: "lifetime epsilon", Want: "must be > 0 and at most " + dp.MaxEpsilon.String(), Got: lifetime}
	}
	if sqldb.IsPostgres(path) {
		return nil, &dp.ParamError{Op: "book", Param: "path", Want: "must be a file of the owner's own", Got: path}
	}
	db, err := sqldb.Open(ctx, path, sqldb.Options{Op: "book", Create: true, WAL: true})
	if err != nil {
		return nil, err
	}
	err = db.Make(ctx,
		`CREATE TABLE IF NOT EXISTS discreet_book (one INTEGER PRIMARY KEY CHECK (one = 1), lifetime INTEGER NOT NULL) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_owners (number INTEGER PRIMARY KEY, seed BLOB NOT NULL) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_given (owner TEXT NOT NULL, task BLOB NOT NULL, epsilon INTEGER NOT NULL, round BLOB NOT NULL, report BLOB NOT NULL, PRIMARY KEY (owner, task)) STRICT`,
	)
	b := &Book{db: db}
	if err == nil {
		err = db.Update(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(`INSERT INTO discreet_book (one, lifetime) VALUES (1, ?) ON CONFLICT (one) DO NOTHING`, int64(lifetime)); err != nil {
				return err
			}
			_, err := tx.Find([]any{&b.cap}, `SELECT lifetime FROM discreet_book`)
			return err
		})
	}
	if err == nil && b.cap != lifetime {
		err = &dp.ParamError{Op: "book", Param: "lifetime epsilon", Want: "must be that of the book, " + b.cap.String(), Got: lifetime, Hint: "a promise once given is not changed; another book is another owner"}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return b, nil
}

// Close closes the book.
func (b *Book) Close() error { return b.db.Close() }

// Keys returns the keys of the first n owners, making those that are missing.
func (b *Book) Keys(ctx context.Context, n int) (keys []ed25519.PrivateKey, err error) {
	err = b.db.Update(ctx, func(tx *sqldb.Tx) error {
		keys = keys[:0]
		if err := tx.Each(func(r *sql.Rows) error {
			var seed []byte
			if err := r.Scan(&seed); err != nil {
				return err
			}
			if len(seed) != ed25519.SeedSize {
				return errors.New("book: a stored key is damaged")
			}
			keys = append(keys, ed25519.NewKeyFromSeed(seed))
			return nil
		}, `SELECT seed FROM discreet_owners WHERE number < ? ORDER BY number`, n); err != nil {
			return err
		}
		for i := len(keys); i < n; i++ {
			_, key, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				return fmt.Errorf("book: make a key: %w", err)
			}
			if err := tx.One(`INSERT INTO discreet_owners (number, seed) VALUES (?, ?)`, i, key.Seed()); err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

// Name is what the owner of a key is called.
func Name(key ed25519.PublicKey) string { return hex.EncodeToString(key) }

// Key is the key of the owner of that name.
func Key(name string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(name)
	if err != nil || len(key) != ed25519.PublicKeySize || Name(key) != name {
		return nil, fmt.Errorf("book: an owner's name must be %d lower-case hexadecimal digits", 2*ed25519.PublicKeySize)
	}
	return key, nil
}

// Given is one thing that an owner has let out.
type Given struct {
	Owner string
	Task  wire.Digest
	Cost  dp.Epsilon
	owner.Entry
}

// Commit charges what owners are about to give and keeps it, all in one
// transaction: all of it is on disk when Commit returns nil, and none where it
// fails. What an owner has given already for a task stays: given is changed to
// it, and nothing is charged.
func (b *Book) Commit(ctx context.Context, given []Given) error {
	return b.db.Update(ctx, func(tx *sqldb.Tx) error {
		for i := range given {
			if err := b.commit(tx, &given[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Book) commit(tx *sqldb.Tx, g *Given) error {
	before, err := find(tx, g.Owner, g.Task)
	if err != nil {
		return err
	}
	if before != nil {
		g.Entry = *before
		return nil
	}
	var spent dp.Epsilon
	if _, err := tx.Find([]any{&spent}, `SELECT COALESCE(SUM(epsilon), 0) FROM discreet_given WHERE owner = ?`, g.Owner); err != nil {
		return err
	}
	if g.Cost < 1 || g.Cost > b.cap-spent {
		return fmt.Errorf("%w: spent %s, asked %s, limit %s", ErrSpent, spent, g.Cost, b.cap)
	}
	return tx.One(`INSERT INTO discreet_given (owner, task, epsilon, round, report) VALUES (?, ?, ?, ?, ?)`,
		g.Owner, g.Task[:], int64(g.Cost), g.Round[:], g.Report)
}

func find(tx *sqldb.Tx, name string, task wire.Digest) (*owner.Entry, error) {
	var round []byte
	var e owner.Entry
	found, err := tx.Find([]any{&round, &e.Report}, `SELECT round, report FROM discreet_given WHERE owner = ? AND task = ?`, name, task[:])
	if err != nil || !found {
		return nil, err
	}
	copy(e.Round[:], round)
	return &e, nil
}

// Of is the part of the book that is one owner's.
func (b *Book) Of(ctx context.Context, name string) owner.Book { return page{ctx, b, name} }

type page struct {
	ctx  context.Context
	b    *Book
	name string
}

func (p page) Reported(task wire.Digest) (e *owner.Entry, err error) {
	err = p.b.db.View(p.ctx, func(tx *sqldb.Tx) error {
		e, err = find(tx, p.name, task)
		return err
	})
	return e, err
}

func (p page) Commit(task wire.Digest, eps dp.Epsilon, e owner.Entry) error {
	given := []Given{{p.name, task, eps, e}}
	if err := p.b.Commit(p.ctx, given); err != nil {
		return err
	}
	if given[0].Round != e.Round || !bytes.Equal(given[0].Report, e.Report) {
		return errors.New("book: the owner has reported for this task already")
	}
	return nil
}
