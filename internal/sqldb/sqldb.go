// SPDX-License-Identifier: Apache-2.0

// Package sqldb opens a database that keeps what it acknowledged: an SQLite file
// or a PostgreSQL server, told apart by the address. Both speak the SQL that is
// written for SQLite; this package spells it for the other.
package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/anchor"
	"github.com/discreet-dp/discreet/internal/diskroom"
)

// Options are what the user of a database decides.
type Options struct {
	// Op begins the words of errors, e.g. "ledger".
	Op string
	// Create makes an SQLite file if there is none, for its user alone, as are
	// the log and the journal beside it; otherwise a missing file is an error that
	// wraps fs.ErrNotExist.
	Create bool
	// WAL keeps an SQLite database as a file with a log beside it: a commit costs
	// one write to the disk, and readers do not wait. Without it the database is
	// one file at all times.
	WAL bool
	// Room refuses to write more bytes to a file's disk; nil: diskroom.Check.
	Room func(path string, more int64) error
	// Anchors is the folder in which the database's newest state is kept; "" for none. One that
	// does not hold the state that is kept there is refused with *anchor.Behind: it was put back,
	// and has forgotten what it acknowledged since.
	Anchors anchor.Folder
}

// DB is an open database.
type DB struct {
	*sql.DB
	dialect
	op   string
	file string // of SQLite; "" for a server
	room func(path string, more int64) error

	anchors  anchor.Folder // "" for none
	identity string
	unnoted  atomic.Pointer[error] // why an anchor could not be kept
}

// dialect is where two databases differ.
type dialect struct {
	words    *strings.Replacer // types and what follows a table's columns
	numbered bool              // parameters are $1, $2 instead of ?
	// alone runs before tables are made: two makers must not meet.
	alone string
	read  sql.TxOptions
	// check refuses a database that does not keep what it acknowledged.
	check func(ctx context.Context, db *sql.DB, o Options) error
}

// Open opens the database at address, a path or postgres://user@host/database.
func Open(ctx context.Context, address string, o Options) (*DB, error) {
	c, err := Connector(address, o)
	if err != nil {
		return nil, err
	}
	return Connect(ctx, c, IsPostgres(address), o)
}

// IsPostgres tells a server's address from a path.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Connector is what Open connects with. It makes a file; it reaches nothing
// else by itself.
func Connector(address string, o Options) (driver.Connector, error) {
	if IsPostgres(address) {
		return postgresConnector(address, o)
	}
	return sqliteConnector(address, o)
}

// Connect opens a database by a connector, of PostgreSQL or of SQLite.
func Connect(ctx context.Context, c driver.Connector, postgres bool, o Options) (*DB, error) {
	d := sqliteDialect()
	if postgres {
		d = postgresDialect()
	}
	db := sql.OpenDB(c)
	file, err := "", d.check(ctx, db, o)
	if err == nil && !postgres {
		err = db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Op, err), db.Close())
	}
	if o.Room == nil {
		o.Room = diskroom.Check
	}
	out := &DB{DB: db, dialect: d, op: o.Op, file: file, room: o.Room}
	if o.Anchors != "" {
		if err := out.anchor(ctx, o.Anchors); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return out, nil
}

// Make runs statements that make tables, all or none. INTEGER, BLOB and STRICT
// are spelled as the database has them.
func (d *DB) Make(ctx context.Context, statements ...string) error {
	return d.runTransaction(ctx, nil, func(t *Tx) error {
		if d.alone != "" {
			statements = append([]string{d.alone}, statements...)
		}
		for _, s := range statements {
			if _, err := t.t.ExecContext(ctx, d.words.Replace(s)); err != nil {
				return d.wrapError(err)
			}
		}
		return nil
	})
}

// Update runs f in a transaction. After nil everything f wrote is on disk. After
// an error all of it is stored or none: the caller cannot know which. With SQLite
// no other writer overlaps it, in this process or another; with PostgreSQL f
// locks what it must not share.
func (d *DB) Update(ctx context.Context, f func(*Tx) error) error {
	return d.runTransaction(ctx, nil, f)
}

// Take is Update for what others send, of about so many bytes: it is refused where too
// little of an SQLite file's disk would stay free. A server's disk is the server's.
func (d *DB) Take(ctx context.Context, bytes int, f func(*Tx) error) error {
	if err := d.checkRoom(bytes); err != nil {
		return err
	}
	return d.Update(ctx, f)
}

func (d *DB) checkRoom(bytes int) error {
	if d.file == "" {
		return nil
	}
	return d.wrapError(d.room(d.file, int64(bytes)))
}

// View runs f on one state of the database.
func (d *DB) View(ctx context.Context, f func(*Tx) error) error {
	return d.runTransaction(ctx, &d.read, f)
}

func (d *DB) runTransaction(ctx context.Context, o *sql.TxOptions, f func(*Tx) error) error {
	t, err := d.BeginTx(ctx, o)
	if err != nil {
		return d.wrapError(err)
	}
	defer t.Rollback()
	tx := &Tx{ctx: ctx, t: t, d: d}
	if err := f(tx); err != nil {
		return err
	}
	var head anchor.Head
	if d.anchors != "" && tx.wrote {
		if head, err = tx.addHead(); err != nil {
			return err
		}
	}
	if err := d.wrapError(t.Commit()); err != nil {
		return err
	}
	if head.Seq > 0 { // never before it is on disk
		if err := d.anchors.Note(d.identity, head); err != nil {
			d.unnoted.Store(&err)
		}
	}
	return nil
}

// ProbeTable makes the table that Probe writes to.
const ProbeTable = `CREATE TABLE IF NOT EXISTS discreet_probe (one INTEGER PRIMARY KEY CHECK (one = 1), room BLOB ` +
	`NOT NULL) STRICT`

// Probe writes so many bytes and deletes them again, each on the disk: it fails where
// the database would not keep, or Take, what it is given now. The database must have a
// ProbeTable.
func (d *DB) Probe(ctx context.Context, room int) error {
	b := make([]byte, room)
	rand.Read(b) // nothing makes them fewer
	err := d.Take(ctx, room, func(tx *Tx) error {
		tx.unseen = true
		_, err := tx.Exec(`INSERT INTO discreet_probe (one, room) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET room = `+
			`excluded.room`, b)
		return err
	})
	if err != nil {
		return err
	}
	return d.Update(ctx, func(tx *Tx) error {
		tx.unseen = true
		_, err := tx.Exec(`DELETE FROM discreet_probe`)
		return err
	})
}

// ErrFailed is in every error of a database, as apart from errors of its users.
var ErrFailed = errors.New("the database failed")

// wrapError marks an error of the database.
func (d *DB) wrapError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", d.op, ErrFailed, err)
}
