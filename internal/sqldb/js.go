// SPDX-License-Identifier: Apache-2.0

//go:build js

package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
)

// A page in a browser reaches neither files nor servers, and carries no database.
var errPage = errors.New("there are no databases in a browser's page: run discreet outside of it")

func sqliteDialect() dialect   { return dialect{} }
func postgresDialect() dialect { return dialect{} }

func sqliteConnector(string, Options) (driver.Connector, error)   { return nil, errPage }
func postgresConnector(string, Options) (driver.Connector, error) { return nil, errPage }

// SQLiteReader opens no file here.
func SQLiteReader(_, _ string) (*sql.DB, error) { return nil, errPage }

// CheckPostgres refuses every server here.
func CheckPostgres(_, _ string) error { return errPage }
