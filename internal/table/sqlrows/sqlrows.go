// SPDX-License-Identifier: Apache-2.0

// Package sqlrows reads the rows of a table in a database, one after another, in a transaction that
// reads alone: postgres://user@host/database?table=NAME, by COPY in its binary form, and
// sqlite:FILE?table=NAME. Memory does not grow with the rows.
package sqlrows

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/sqldb"
)

// Cell is one cell of a row.
type Cell struct {
	Form    Form
	Text    []byte // valid until the next row
	Integer int64  // a truth value is 0 or 1
	Float   float64
}

// Form says which field of a Cell holds it.
type Form uint8

const (
	Missing Form = iota
	Text
	Integer
	Float
	Truth
)

// Kind is the type of a column's cells.
type Kind uint8

const (
	Numbers Kind = iota + 1
	Truths
	Texts // also what has a type of its own and is read as text: a date, a UUID, a value of an enumeration
	Any   // each cell has a form of its own
	Other // what no schema declares: bytes, lists, records
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	// Declared is what the catalogue says that cells are, as a codebook names it: yes_no, integer,
	// number, date or category; "" for what none is like.
	Declared string
	// Spelt reports a type of its own that is read as text: it is never a number.
	Spelt bool
	read  string // how the database is asked for it
	get   getter
}

// getter reads a cell in the binary form of its type; ok is false where it cannot be one.
type getter func(b []byte, out *Cell) (ok bool)

// source is one kind of database.
type source interface {
	// read begins to read these columns.
	read(columns []Column) error
	// next has the cells of the next row, and fails with io.EOF after the last.
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

// IsAddress tells the address of a table from a path.
func IsAddress(address string) bool {
	return sqldb.IsPostgres(address) || strings.HasPrefix(address, sqlitePrefix)
}

const sqlitePrefix = "sqlite:"

// Check refuses an address that names no table, or holds a password, without opening anything.
func Check(address string) error {
	server, _, err := splitAddress(address)
	if err == nil && sqldb.IsPostgres(address) {
		err = sqldb.CheckPostgres(server, op)
	}
	return err
}

// splitAddress takes the table's name out of an address: what is left is a server's address or a
// path. Its errors do not repeat the address, which may hold a password.
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

// Open opens the table at an address and lists its columns. Close it.
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

// Read begins to read the rows: the cells of these of Columns, in this order. It is called once.
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

// Close ends the reading, wherever it is.
func (t *Table) Close() error { return t.close() }
