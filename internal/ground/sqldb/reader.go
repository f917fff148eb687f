// SPDX-License-Identifier: Apache-2.0

//go:build !js

package sqldb

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"modernc.org/sqlite"
)

// CheckPostgres refuses an invalid address, or one with a password, without calling the server.
func CheckPostgres(address, op string) error {
	_, err := parsePostgres(address, op)
	return err
}

// readBytes is the number of bytes to read from a server at once.
const readBytes = 256 << 10

// PostgresReader opens a read-only connection to a server. Its transactions see one state of the
// database, and return rows in a fixed order.
func PostgresReader(ctx context.Context, address, op string) (*pgx.Conn, error) {
	c, err := parsePostgres(address, op)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"default_transaction_read_only": "on", "default_transaction_isolation": "repeatable read",
		"synchronize_seqscans": "off", "client_encoding": "UTF8", "datestyle": "ISO", "timezone": "UTC",
		"extra_float_digits": "1",
	} {
		c.RuntimeParams[name] = value
	}
	// The library asks the system for 8 kB at a time, and servers hand out tables faster than that.
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, readBytes), w)
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return conn, nil
}

// SQLiteReader opens an SQLite file read-only.
func SQLiteReader(path, op string) (*sql.DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %s must be a plain file", op, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"query_only(ON)", "trusted_schema(OFF)", "busy_timeout(60000)"}}
	c, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return sql.OpenDB(c), nil
}
