// SPDX-License-Identifier: Apache-2.0

//go:build js

package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
)

// A page in a browser has no access to files or servers, and contains no database.
var errPage = errors.New("there are no databases in a browser's page: run discreet outside of it")

func sqliteDialect() dialect   { return dialect{} }
func postgresDialect() dialect { return dialect{} }

func sqliteConnector(string, Options) (driver.Connector, error)   { return nil, errPage }
func postgresConnector(string, Options) (driver.Connector, error) { return nil, errPage }

// SQLiteReader refuses every file.
func SQLiteReader(_, _ string) (*sql.DB, error) { return nil, errPage }

// CheckPostgres refuses every server.
func CheckPostgres(_, _ string) error { return errPage }
