// SPDX-License-Identifier: Apache-2.0

package sqlrows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

type sqlite struct {
	ctx    context.Context
	db     *sql.DB
	tx     *sql.Tx
	table  string
	rows   *sql.Rows
	values []any
	into   []any
}

func openSQLite(ctx context.Context, path, table string) (_ *Table, err error) {
	db, err := sqldb.SQLiteReader(path, op)
	if err != nil {
		return nil, err
	}
	l := &sqlite{ctx: ctx, db: db, table: quote(table)}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	// In a view, BLOB is also the type of a column that has none. Other hidden columns are computed ones.
	rows, err := l.tx.QueryContext(ctx, `SELECT name, iif(EXISTS
		(SELECT 1 FROM sqlite_schema AS s WHERE s.type = 'view' AND s.name = ?1 COLLATE NOCASE), replace(type, 'BLOB', ''), type)
		FROM pragma_table_xinfo(?1) WHERE hidden <> 1`, table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	defer rows.Close()
	t := &Table{source: l}
	for rows.Next() {
		var name, declared string
		if err := rows.Scan(&name, &declared); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		// A plus sign leaves the cell as it is and its declared type out, by which the driver would
		// make times of texts.
		c := Column{Name: name, Type: coding.Type{Form: coding.Any, Name: declared}, Affinity: affinityOf(declared),
			read: "+" + quote(name)}
		if strings.Contains(strings.ToUpper(declared), "BLOB") {
			c.Type.Form = coding.Unknown
		}
		t.Columns = append(t.Columns, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if len(t.Columns) == 0 {
		return nil, &dp.ParamError{Op: op, Param: "table", Want: "must be in the database", Got: table}
	}
	return t, nil
}

// affinityOf interprets a declared type by words in its name, as SQLite does. It also recognizes
// booleans and dates.
func affinityOf(declared string) string {
	declared = strings.ToUpper(declared)
	for _, rule := range [][2]string{{"BOOL", "yes_no"}, {"DATE", "date"}, {"TIMESTAMP", "date"}, {"INT", "integer"},
		{"CHAR", "category"}, {"CLOB", "category"}, {"TEXT", "category"}, {"REAL", "number"}, {"FLOA", "number"},
		{"DOUB", "number"}, {"NUM", "number"}, {"DEC", "number"}} {
		if strings.Contains(declared, rule[0]) {
			return rule[1]
		}
	}
	return ""
}

// quote writes a name in the syntax of SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (l *sqlite) read(columns []Column) (err error) {
	var list []string
	for _, c := range columns {
		list = append(list, c.read)
	}
	l.values, l.into = make([]any, len(columns)), make([]any, len(columns))
	for i := range l.values {
		l.into[i] = &l.values[i]
	}
	if l.rows, err = l.tx.QueryContext(l.ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+l.table); err != nil {
		return errSQLite
	}
	return nil
}

// errSQLite replaces errors during the reading of rows, whose text may contain a cell.
var errSQLite = errors.New(op + ": SQLite could not read the table")

func (l *sqlite) next(out []Cell) error {
	if !l.rows.Next() {
		switch err := l.rows.Err(); {
		case err == nil:
			return io.EOF
		case l.ctx.Err() != nil:
			return l.ctx.Err()
		}
		return errSQLite
	}
	if err := l.rows.Scan(l.into...); err != nil {
		return errSQLite
	}
	for i, v := range l.values {
		c := &out[i]
		switch v := v.(type) {
		case nil:
			c.Form = coding.None
		case int64:
			c.Form, c.Integer = coding.Integer, v
		case float64:
			c.Form, c.Float = coding.Float, v
		case string:
			c.Form, c.Text = coding.Text, append(c.Text[:0], v...)
		case []byte:
			c.Form, c.Text = coding.Text, append(c.Text[:0], v...)
		case bool:
			c.Form, c.Integer = coding.Truth, 0
			if v {
				c.Integer = 1
			}
		default:
			return errSQLite
		}
	}
	return nil
}

func (l *sqlite) close() (err error) {
	if l.rows != nil {
		err = l.rows.Close()
	}
	if l.tx != nil {
		if rolled := l.tx.Rollback(); !errors.Is(rolled, sql.ErrTxDone) {
			err = errors.Join(err, rolled)
		}
	}
	return errors.Join(err, l.db.Close())
}
