// SPDX-License-Identifier: Apache-2.0

// Package sqlrows reads the rows of a table in a database, one after another, in a read-only
// transaction: postgres://user@host/database?table=NAME and sqlite:FILE?table=NAME.
// Memory does not grow with the number of rows.
package sqlrows

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// Cell is one cell of a row.
type Cell struct {
	Form    coding.Form // None, Text, Integer, Float, Single, Truth, Day, Instant or Decimal
	Text    []byte      // of a text or a decimal; valid until the next row
	Integer int64       // an integer, 0 or 1, a day since 1970-01-01, or an instant in seconds since then
	Float   float64
}

// Column is a column of a table.
type Column struct {
	Name string
	// Type is the declared type, whose Form is Any if each cell has its own.
	Type coding.Type
	// Affinity is, if each cell has its own form, what the declared type says in the terms of a codebook.
	Affinity string
	read     string // the expression that selects it
	get      getter
}

// getter reads a cell in the binary form of its type; ok is false if the bytes are invalid.
type getter func(b []byte, out *Cell) (ok bool)

// source is one kind of database.
type source interface {
	// read begins reading these columns.
	read(columns []Column) error
	// next returns the cells of the next row, and io.EOF after the last one.
	next(out []Cell) error
	close() error
}

// Table is an open table.
type Table struct {
	Columns []Column
	source
	cells []Cell
}

const op = "data"

// IsAddress reports whether a path is the address of a table.
func IsAddress(address string) bool {
	return sqldb.IsPostgres(address) || strings.HasPrefix(address, sqlitePrefix)
}

const sqlitePrefix = "sqlite:"

// Check refuses an address that does not name a table or contains a password. It opens nothing.
func Check(address string) error {
	server, _, err := splitAddress(address)
	if err == nil && sqldb.IsPostgres(address) {
		err = sqldb.CheckPostgres(server, op)
	}
	return err
}

// splitAddress splits an address into the server's address, or a path, and the table's name. Its
// errors do not repeat the address, which may contain a password.
func splitAddress(address string) (server string, table []string, err error) {
	path, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", nil, errors.New(op + ": what follows ? in an address of a table must be table=NAME and other " +
			"parameters, separated by &")
	}
	names := values["table"]
	values.Del("table")
	if len(names) != 1 || names[0] == "" {
		return "", nil, &dp.ParamError{Op: op, Param: "table", Want: "must be named once in a database's address",
			Got: len(names), Hint: "write ?table=NAME or ?table=SCHEMA.NAME behind the database"}
	}
	if rest, ok := strings.CutPrefix(path, sqlitePrefix); ok {
		if len(values) > 0 || rest == "" {
			return "", nil, errors.New(op + ": the address of an SQLite table must be sqlite:FILE?table=NAME")
		}
		return rest, names, nil
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return path, strings.Split(names[0], "."), nil
}

// Open opens the table at an address and lists its columns. The caller must close it.
func Open(ctx context.Context, address string) (*Table, error) {
	server, table, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	if sqldb.IsPostgres(address) {
		return openPostgres(ctx, server, table)
	}
	return openSQLite(ctx, server, table[0])
}

// Locate says where the rows of a table are: in a file, or in none but a server, and in which parts of it.
// Tables with a part in common have rows in common. A view has parts of its own.
func Locate(ctx context.Context, address string) (file string, parts []string, err error) {
	server, table, err := splitAddress(address)
	if err != nil {
		return "", nil, err
	}
	if sqldb.IsPostgres(address) {
		parts, err = locatePostgres(ctx, server, table)
		return "", parts, err
	}
	// Names of SQLite are equal in ASCII letters of either case.
	return server, []string{strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, table[0])}, nil
}

// Read begins reading the rows: the cells of the given Columns, in this order. It must be called once.
func (t *Table) Read(columns []int) error {
	chosen := make([]Column, len(columns))
	for i, k := range columns {
		chosen[i] = t.Columns[k]
	}
	t.cells = make([]Cell, len(columns))
	return t.source.read(chosen)
}

// Next returns the cells of the next row, valid until the next call, and io.EOF after the last one.
func (t *Table) Next() ([]Cell, error) {
	if err := t.next(t.cells); err != nil {
		return nil, err
	}
	return t.cells, nil
}

// Close ends the reading at any point.
func (t *Table) Close() error { return t.close() }
