// SPDX-License-Identifier: Apache-2.0

// Package spending stores the state of owners: keys, the reports or shares given for each task, and
// the total privacy cost. One SQLite file holds the state of one owner, or of many whose data one
// machine holds.
package spending

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
)

// Book is an open book. It is safe for concurrent use.
type Book struct {
	db      *sqldb.DB
	cap     dp.Epsilon
	writing sync.Mutex // queue of writers, because the database's own waiting polls
}

// ErrSpent reports that a report would cost more than what is left.
var ErrSpent = errors.New("book: the report would exceed the owner's lifetime epsilon")

// Options are the options for opening a book's database.
var Options = sqldb.Options{Op: "book", Create: true, WAL: true}

// Open opens the book at path, or creates it. lifetime is the largest total cost of one owner's
// reports; a book keeps its initial lifetime. It is checked against its anchor in a folder, unless
// that is "".
func Open(ctx context.Context, path string, lifetime dp.Epsilon, anchors anchor.Folder) (*Book, error) {
	if lifetime < 1 || lifetime > dp.MaxEpsilon {
		return nil, dp.Refuse("book", "lifetime epsilon", "must be > 0 and at most "+dp.MaxEpsilon.String(), lifetime)
	}
	if sqldb.IsPostgres(path) {
		return nil, dp.Refuse("book", "path", "must be a file of the owner's own", path)
	}
	o := Options
	o.Anchors = anchors
	db, err := sqldb.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return On(ctx, db, lifetime)
}

// On opens the book in a database. Close also closes the database.
func On(ctx context.Context, db *sqldb.DB, lifetime dp.Epsilon) (*Book, error) {
	err := db.Make(ctx,
		`CREATE TABLE IF NOT EXISTS discreet_book (one INTEGER PRIMARY KEY CHECK (one = 1), lifetime INTEGER NOT `+
			`NULL) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_owners (number INTEGER PRIMARY KEY, key BLOB NOT NULL CHECK (length(key) = `+
			`64)) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_given (owner INTEGER NOT NULL, task BLOB NOT NULL, epsilon INTEGER NOT NULL `+
			`CHECK (epsilon > 0), round BLOB NOT NULL CHECK (length(round) = 32), report BLOB NOT NULL, PRIMARY KEY (owner, `+
			`task)) STRICT`,
		sqldb.Twice("discreet_given", "epsilon"),
	)
	b := &Book{db: db}
	if err == nil {
		err = db.Update(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(`INSERT INTO discreet_book (one, lifetime) VALUES (1, ?) ON CONFLICT (one) DO NOTHING`,
				int64(lifetime)); err != nil {
				return err
			}
			_, err := tx.Find([]any{&b.cap}, `SELECT lifetime FROM discreet_book`)
			return err
		})
	}
	if err == nil && b.cap != lifetime {
		err = &dp.ParamError{Op: "book", Param: "lifetime epsilon", Want: "must be that of the book, " + b.cap.String(),
			Got: lifetime, Hint: "a promise once given is not changed; another book is another owner"}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return b, nil
}

// Close closes the book.
func (b *Book) Close() error { return b.db.Close() }

// Keys are the keys of owners 0, 1, ...
type Keys []byte

// Len is the number of keys.
func (k Keys) Len() int { return len(k) / ed25519.PrivateKeySize }

// At returns a copy of one owner's key. crypto/ed25519 caches values by a key's address, and is slow
// if many keys are in one block of memory.
func (k Keys) At(owner int) ed25519.PrivateKey {
	return bytes.Clone(k.at(owner))
}

func (k Keys) at(owner int) []byte {
	return k[owner*ed25519.PrivateKeySize:][:ed25519.PrivateKeySize]
}

// Public returns the public half of one owner's key.
func (k Keys) Public(owner int) [ed25519.PublicKeySize]byte {
	return [ed25519.PublicKeySize]byte(k.at(owner)[ed25519.SeedSize:])
}

// Name returns the name of one owner.
func (k Keys) Name(owner int) string {
	key := k.Public(owner)
	return hex.EncodeToString(key[:])
}

// chunk is the number of rows in one statement.
const chunk = 200

// Keys returns the keys of the first n owners, and makes those that do not exist yet.
func (b *Book) Keys(ctx context.Context, n int) (keys Keys, err error) {
	err = b.db.Update(ctx, func(tx *sqldb.Tx) error {
		keys = make(Keys, 0, n*ed25519.PrivateKeySize)
		if err := tx.Each(func(r *sql.Rows) error {
			var key sql.RawBytes
			if err := r.Scan(&key); err != nil {
				return err
			}
			if len(key) != ed25519.PrivateKeySize {
				return errors.New("book: a stored key is damaged")
			}
			keys = append(keys, key...)
			return nil
		}, `SELECT key FROM discreet_owners WHERE number < ? ORDER BY number`, n); err != nil {
			return err
		}
		for keys.Len() < n {
			var args []any
			for range min(chunk, n-keys.Len()) {
				_, key, err := ed25519.GenerateKey(rand.Reader)
				if err != nil {
					return fmt.Errorf("book: make a key: %w", err)
				}
				args = append(args, keys.Len(), []byte(key))
				keys = append(keys, key...)
			}
			if _, err := tx.Exec(`INSERT INTO discreet_owners (number, key) VALUES (?, ?)`+
				strings.Repeat(`, (?, ?)`, len(args)/2-1), args...); err != nil {
				return err
			}
		}
		return nil
	})
	return keys, err
}

// Broke returns which of the first n owners have not reported for the task before and cannot afford
// its cost. If that is all of them, the error wraps ErrSpent.
func (b *Book) Broke(ctx context.Context, task wire.Digest, cost dp.Epsilon, n int) (broke map[int]bool, err error) {
	var least dp.Epsilon
	err = b.db.View(ctx, func(tx *sqldb.Tx) error {
		broke = map[int]bool{}
		return tx.Each(func(r *sql.Rows) error {
			var owner int
			var spent dp.Epsilon
			err := r.Scan(&owner, &spent)
			if len(broke) == 0 || spent < least {
				least = spent
			}
			broke[owner] = true
			return err
		}, `SELECT owner, SUM(epsilon) FROM discreet_given WHERE owner < ? GROUP BY owner HAVING SUM(epsilon) > ? AND NOT `+
			`MAX(task = ?)`, n, int64(b.cap-cost), task[:])
	})
	if err == nil && len(broke) == n {
		err = b.tooMuch(least, cost)
	}
	return broke, err
}

func (b *Book) tooMuch(spent, cost dp.Epsilon) error {
	return fmt.Errorf("%w: spent %s, asked %s, limit %s", ErrSpent, spent, cost, b.cap)
}

// Commit implements answer.Book in one transaction: everything is on disk when Commit returns nil;
// after an error the caller must assume that nothing is. Refused wraps ErrSpent.
func (b *Book) Commit(ctx context.Context, given []answer.Given) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	size := 0
	for _, g := range given {
		size += len(g.Report)
	}
	return b.db.Take(ctx, size, func(tx *sqldb.Tx) error {
		for part := range slices.Chunk(given, chunk) {
			if err := b.commit(tx, part); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Book) commit(tx *sqldb.Tx, given []answer.Given) error {
	task := given[0].Task
	spent, before := map[int]dp.Epsilon{}, map[int]answer.Entry{}
	args := []any{task[:], task[:]}
	for _, g := range given {
		if g.Task != task {
			return errors.New("book: one commit must be about one task")
		}
		args = append(args, g.Owner)
	}
	if err := tx.Each(func(r *sql.Rows) error {
		var n int
		var eps dp.Epsilon
		var round, report []byte
		if err := r.Scan(&n, &eps, &round, &report); err != nil {
			return err
		}
		spent[n] += eps
		if round != nil {
			before[n] = answer.Entry{Round: [32]byte(round), Report: report}
		}
		return nil
	}, `SELECT owner, epsilon, CASE WHEN task = ? THEN round END, CASE WHEN task = ? THEN report END FROM `+
		`discreet_given WHERE owner IN (?`+
		strings.Repeat(`, ?`, len(given)-1)+`)`, args...); err != nil {
		return err
	}
	args = args[:0]
	for i := range given {
		g := &given[i]
		e, found := before[g.Owner]
		switch {
		case found: // 2.2
			g.Entry = e
		case g.Cost < 1 || g.Cost > b.cap-spent[g.Owner]:
			g.Refused = b.tooMuch(spent[g.Owner], g.Cost)
		default:
			args = append(args, g.Owner, g.Task[:], int64(g.Cost), g.Round[:], g.Report)
		}
	}
	if len(args) == 0 {
		return nil
	}
	_, err := tx.Exec(`INSERT INTO discreet_given (owner, task, epsilon, round, report) VALUES (?, ?, ?, ?, ?)`+
		strings.Repeat(`, (?, ?, ?, ?, ?)`, len(args)/5-1), args...)
	return err
}

// For returns what owners have given for a task, by owner.
func (b *Book) For(ctx context.Context, task wire.Digest) (given map[int]answer.Entry, err error) {
	err = b.db.View(ctx, func(tx *sqldb.Tx) error {
		given = map[int]answer.Entry{}
		return tx.Each(func(r *sql.Rows) error {
			var owner int
			var round, report []byte
			if err := r.Scan(&owner, &round, &report); err != nil {
				return err
			}
			given[owner] = answer.Entry{Round: [32]byte(round), Report: report}
			return nil
		}, `SELECT owner, round, report FROM discreet_given WHERE task = ?`, task[:])
	})
	return given, err
}
