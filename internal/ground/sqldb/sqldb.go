// SPDX-License-Identifier: Apache-2.0

// Package sqldb opens a durable database: an SQLite file or a PostgreSQL server, depending on the
// address. Statements are written for SQLite; this package adapts them to PostgreSQL.
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

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
)

// Options are the options for opening a database.
type Options struct {
	// Op is the prefix of errors, e.g. "ledger".
	Op string
	// Create creates an SQLite file if it does not exist, readable by its user alone, as are its log
	// and journal. Without it a missing file is an error that wraps fs.ErrNotExist.
	Create bool
	// WAL uses a write-ahead log in a second file for SQLite: a commit costs one write to the disk,
	// and readers do not wait. Without it the database is a single file at all times.
	WAL bool
	// Room refuses to write more bytes to a file's disk; nil: diskroom.Check.
	Room func(path string, more int64) error
	// Anchors is the folder for the database's newest state; "" for none. A database that does not
	// contain the stored state is refused with *anchor.Behind: it was restored to an earlier state,
	// and has lost data that it acknowledged.
	Anchors anchor.Folder
}

// DB is an open database.
type DB struct {
	*sql.DB
	dialect
	op   string
	file string // for SQLite; "" for a server
	room func(path string, more int64) error

	anchors  anchor.Folder // "" for none
	identity string
	unnoted  atomic.Pointer[error] // why an anchor could not be stored
}

// dialect holds the differences between two databases.
type dialect struct {
	words    *strings.Replacer // types and the text after a table's columns
	numbered bool              // parameters are $1, $2 instead of ?
	// alone runs before tables are created, to exclude another creator.
	alone string
	read  sql.TxOptions
	// check refuses a database that is not durable.
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

// IsPostgres reports whether address is that of a server rather than a path.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Connector returns the connector that Open uses. It creates a file, and connects to nothing by
// itself.
func Connector(address string, o Options) (driver.Connector, error) {
	if IsPostgres(address) {
		return postgresConnector(address, o)
	}
	return sqliteConnector(address, o)
}

// Connect opens a database with a connector of PostgreSQL or of SQLite.
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

// Make runs statements that create tables, all or none. It replaces INTEGER, BLOB and STRICT by the
// database's own words.
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

// Update runs f in a transaction. Once it has returned nil, everything that f wrote is on disk. After
// an error either all of it is stored or nothing is; the caller cannot know which. SQLite excludes
// other writers, in this process and others. With PostgreSQL, f must lock what it cannot share.
func (d *DB) Update(ctx context.Context, f func(*Tx) error) error {
	return d.runTransaction(ctx, nil, f)
}

// Take is Update for about bytes bytes that another machine has sent. It is refused if too little
// space would stay free on an SQLite file's disk. For a server it is the same as Update.
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

// View runs f on one consistent state of the database.
func (d *DB) View(ctx context.Context, f func(*Tx) error) error {
	return d.runTransaction(ctx, &d.read, f)
}

// Find is Tx.Find in a View of its own.
func (d *DB) Find(ctx context.Context, into []any, q string, args ...any) (found bool, err error) {
	err = d.View(ctx, func(t *Tx) error {
		found, err = t.Find(into, q, args...)
		return err
	})
	return found, err
}

// Exec is Tx.Exec in an Update of its own.
func (d *DB) Exec(ctx context.Context, q string, args ...any) error {
	return d.Update(ctx, func(t *Tx) error {
		_, err := t.Exec(q, args...)
		return err
	})
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

// Twice returns the statement that makes SQLite keep a second copy of columns in an index, which Open
// compares with the table: of the columns on which it rests that something happens once or costs no
// more than is left. A PRIMARY KEY has such a copy already.
func Twice(table, columns string) string {
	return `CREATE INDEX IF NOT EXISTS ` + table + `_twice ON ` + table + ` (` + columns + `)`
}

// ProbeTable creates the table that Probe writes to.
const ProbeTable = `CREATE TABLE IF NOT EXISTS discreet_probe (one INTEGER PRIMARY KEY CHECK (one = 1), room BLOB ` +
	`NOT NULL) STRICT`

// Probe writes room bytes to disk and deletes them again. It fails if the database could not store
// data now, or Take would refuse them. The database must have a ProbeTable.
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

// ErrFailed is wrapped by every error of the database itself, as opposed to errors of its users.
var ErrFailed = errors.New("the database failed")

// wrapError marks an error of the database.
func (d *DB) wrapError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", d.op, ErrFailed, err)
}
