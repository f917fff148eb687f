// SPDX-License-Identifier: Apache-2.0

package ledger

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

	"modernc.org/sqlite"
)

// sqliteDialect relies on BEGIN IMMEDIATE to exclude other writers.
func sqliteDialect() dialect {
	return dialect{integer: "INTEGER", blob: "BLOB", strict: "STRICT", read: sql.TxOptions{ReadOnly: true}, check: checkSQLite}
}

// sqliteAddress opens a file that exists; create also makes it. The rollback
// journal keeps the ledger one file; with synchronous=EXTRA a commit has
// reached the disk, its folder included, when it is acknowledged.
func sqliteAddress(path string, create bool) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
	case errors.Is(err, fs.ErrNotExist):
		return "", &Missing{fmt.Sprintf("file %s", path), "discreet budget init creates it"}
	case err != nil:
		return "", fmt.Errorf("ledger: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("ledger: %s must be a plain file", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("ledger: %w", err)
	}
	q := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {"busy_timeout(60000)", "journal_mode(DELETE)", "synchronous(EXTRA)", "trusted_schema(OFF)"}}
	if create {
		q.Set("mode", "rwc")
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}).String(), nil
}

func sqliteConnector(path string, create bool) (driver.Connector, error) {
	dsn, err := sqliteAddress(path, create)
	if err != nil {
		return nil, err
	}
	return sqlite.NewConnector(dsn)
}

// checkSQLite refuses versions before 3.51.3, which could lose committed pages,
// and settings that do not hold.
func checkSQLite(ctx context.Context, db *sql.DB) error {
	var version, journal string
	var major, minor, patch, synchronous int
	if err := db.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version); err != nil {
		return err
	}
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil || major*1_000_000+minor*1000+patch < 3_051_003 {
		return fmt.Errorf("sqlite must be 3.51.3 or newer (got %s)", version)
	}
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous); err != nil {
		return err
	}
	const extra = 3
	if journal != "delete" || synchronous != extra {
		return fmt.Errorf("sqlite must keep journal_mode delete and synchronous %d (got %s and %d)", extra, journal, synchronous)
	}
	return nil
}
