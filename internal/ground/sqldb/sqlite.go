// SPDX-License-Identifier: Apache-2.0

//go:build !js

package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// sqliteDialect uses BEGIN IMMEDIATE to exclude other writers.
func sqliteDialect() dialect {
	return dialect{words: strings.NewReplacer(), read: sql.TxOptions{ReadOnly: true}, check: checkSQLite}
}

// chooseModes returns how SQLite writes to the disk: one file with a rollback journal whose removal is
// synced too, or a log that is synced at every commit.
func (o Options) chooseModes() (journal string, synchronous int) {
	if o.WAL {
		return "wal", 2 // FULL
	}
	return "delete", 3 // EXTRA
}

func sqliteConnector(path string, o Options) (driver.Connector, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Create:
		f, err := openfile.Append(path, 0o600) // SQLite itself would make it as the umask says
		if err == nil {
			err = f.Close()
		}
		if _, missing := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) && missing != nil {
			return nil, fmt.Errorf("%s: folder %s must exist: %w", o.Op, filepath.Dir(path), missing)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Op, err)
		}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", o.Op, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %s must be a plain file", o.Op, path)
	default:
		if err := checkOneName(path, info); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Op, err)
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Op, err)
	}
	journal, synchronous := o.chooseModes()
	q := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(60000)", fmt.Sprintf("journal_mode(%s)", journal), fmt.Sprintf("synchronous(%d)", synchronous),
		"trusted_schema(OFF)"}}
	if o.Create {
		q.Set("mode", "rwc")
	}
	return sqlite.NewConnector((&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}).String())
}

// checkOneName refuses a file with more than one hard link. SQLite writes its journal beside the name
// by which a file was opened. After a crash somebody who opens it by another name does not find the
// journal, and would continue with a file that was written in part.
func checkOneName(path string, info fs.FileInfo) error {
	n, err := countLinks(path, info)
	if err != nil {
		return err
	}
	if n > 1 {
		return fmt.Errorf("%s must have one name, and has %d hard links; remove the others, and keep the one beside which "+
			"there is a file NAME-journal or NAME-wal, if there is one", path, n)
	}
	return nil
}

// checkSQLite refuses versions before 3.51.3, which could lose committed pages, and settings that did
// not take effect, and damaged files.
func checkSQLite(ctx context.Context, db *sql.DB, o Options) error {
	var version, journal string
	var major, minor, patch, synchronous int
	if err := db.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version); err != nil {
		return err
	}
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil ||
		major*1_000_000+minor*1000+patch < 3_051_003 {
		return fmt.Errorf("sqlite must be 3.51.3 or newer (got %s)", version)
	}
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous); err != nil {
		return err
	}
	if j, s := o.chooseModes(); journal != j || synchronous != s {
		return fmt.Errorf("sqlite must keep journal_mode %s and synchronous %d (got %s and %d)", j, s, journal, synchronous)
	}
	return compareIndexes(ctx, db)
}

// compareIndexes refuses a database whose indexes differ from its tables. An index is a second copy of
// cells, from which SQLite answers whether a key exists and, if it holds all that is asked for, more.
// A changed bit in one of the two would make something forgotten that was promised to happen once.
func compareIndexes(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return fmt.Errorf("the database is damaged, and may have forgotten what it has paid or answered: %s", said)
	}
	return nil
}
