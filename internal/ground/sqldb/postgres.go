// SPDX-License-Identifier: Apache-2.0

//go:build !js

package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

func postgresDialect() dialect {
	return dialect{
		words:    strings.NewReplacer("INTEGER", "BIGINT", "BLOB", "BYTEA", "STRICT", ""),
		numbered: true,
		alone:    `SELECT pg_advisory_xact_lock(7306095213645294948)`, // any number that others do not use
		read:     sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		check:    checkPostgres,
	}
}

// parsePostgres refuses a password in the address, because command lines are visible to other
// processes and are stored in shell histories.
func parsePostgres(address, op string) (*pgx.ConnConfig, error) {
	u, err := url.Parse(address)
	if err != nil {
		// not err: it quotes the address
		return nil, errors.New(op + ": a PostgreSQL address must look like postgres://user@host/database")
	}
	_, secret := u.User.Password()
	for key := range u.Query() {
		secret = secret || strings.Contains(strings.ToLower(key), "password")
	}
	if secret {
		return nil, errors.New(op +
			": a PostgreSQL address must not hold a password; set PGPASSWORD or name a password file in PGPASSFILE")
	}
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	c.RuntimeParams["application_name"] = "discreet"
	return c, nil
}

func postgresConnector(address string, o Options) (driver.Connector, error) {
	c, err := parsePostgres(address, o.Op)
	if err != nil {
		return nil, err
	}
	c.RuntimeParams["synchronous_commit"] = "on" // whatever the server's default
	c.RuntimeParams["default_transaction_isolation"] = "read committed"
	return stdlib.GetConnector(*c), nil
}

// checkPostgres refuses a server that acknowledges data before they are on disk.
func checkPostgres(ctx context.Context, db *sql.DB, _ Options) error {
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := db.QueryRowContext(ctx, `SELECT current_setting($1)`, name).Scan(&value); err != nil {
			return err
		}
		if value != "on" {
			return fmt.Errorf("PostgreSQL's %s must be on (got %s): what it acknowledged would not survive a crash", name, value)
		}
	}
	return nil
}
