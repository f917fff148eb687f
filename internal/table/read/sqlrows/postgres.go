// SPDX-License-Identifier: Apache-2.0

//go:build !js

package sqlrows

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// postgres reads a table by one query, whose rows it takes one after another.
type postgres struct {
	ctx   context.Context
	conn  *pgx.Conn
	table string
	gets  []getter
	rows  *pgconn.ResultReader
}

// maxRow bounds the bytes of a row. The server sends no more characters of a text than fit into half of it.
const maxRow = 16 << 20

func openPostgres(ctx context.Context, server string, table []string) (_ *Table, err error) {
	conn, err := sqldb.PostgresReader(ctx, server, op)
	if err != nil {
		return nil, err
	}
	p := &postgres{ctx: ctx, conn: conn, table: pgx.Identifier(table).Sanitize()}
	defer func() {
		if err != nil {
			conn.Close(context.WithoutCancel(ctx))
		}
	}()
	if _, err := conn.Exec(ctx, "BEGIN"); err != nil {
		return nil, serverError(err)
	}
	// No row is read so far: what the server says is about names.
	d, err := conn.Prepare(ctx, "columns", "SELECT * FROM "+p.table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	t := &Table{source: p}
	for _, f := range d.Fields {
		c, err := p.columnOf(f)
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, c)
	}
	return t, nil
}

// locatePostgres names the server by the identity of its data, which replicas share, and lists the table with
// its partitions and all else that inherits from it.
func locatePostgres(ctx context.Context, server string, table []string) (parts []string, err error) {
	conn, err := sqldb.PostgresReader(ctx, server, op)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `WITH RECURSIVE part(oid) AS (SELECT $1::text::regclass::oid
		UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN part ON inhparent = part.oid)
		SELECT concat_ws(' ', system_identifier, d.oid, part.oid) FROM part, pg_catalog.pg_control_system(),
		pg_catalog.pg_database d WHERE datname = current_database()`, pgx.Identifier(table).Sanitize())
	if err == nil {
		parts, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil { // no row is read: it is about names
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return parts, nil
}

// columnOf determines how to request and read a column of this type.
func (p *postgres) columnOf(f pgconn.FieldDescription) (Column, error) {
	name := pgx.Identifier{f.Name}.Sanitize()
	c := Column{Name: f.Name, Kind: Texts, read: name + "::text", get: getText}
	switch f.DataTypeOID {
	case 16:
		c.Kind, c.Declared, c.read, c.get = Truths, "yes_no", name, getTruth
	case 21, 23, 20:
		c.Kind, c.Declared, c.read, c.get = Numbers, "integer", name, getInteger
	case 700, 701:
		c.Kind, c.Declared, c.read, c.get = Numbers, "number", name, getFloat
	case 1700: // as text, which holds all digits
		c.Kind, c.Declared = Numbers, "number"
	case 25, 1043:
		c.Declared, c.read = "category", name
	case 1042, 18, 19: // padded, or names
		c.Declared = "category"
	case 1082, 1114, 1184: // days, with and without a time
		c.Declared, c.Spelt = "date", true
	case 1083, 1186, 1266, 2950:
		c.Spelt = true
	default:
		var kind string
		if err := p.conn.QueryRow(p.ctx, "SELECT typtype::text FROM pg_catalog.pg_type WHERE oid = $1",
			f.DataTypeOID).Scan(&kind); err != nil {
			return c, serverError(err)
		}
		c.Spelt, c.Declared = true, "category"
		if kind != "e" {
			c.Kind, c.Declared = Other, ""
		}
	}
	return c, nil
}

func getTruth(b []byte, out *Cell) bool {
	if len(b) != 1 {
		return false
	}
	out.Form, out.Integer = Truth, int64(b[0])
	return true
}

func getInteger(b []byte, out *Cell) bool {
	out.Form = Integer
	switch len(b) {
	case 2:
		out.Integer = int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		out.Integer = int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		out.Integer = int64(binary.BigEndian.Uint64(b))
	default:
		return false
	}
	return true
}

func getFloat(b []byte, out *Cell) bool {
	out.Form = Float
	switch len(b) {
	case 4:
		out.Float = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		out.Float = math.Float64frombits(binary.BigEndian.Uint64(b))
	default:
		return false
	}
	return true
}

func getText(b []byte, out *Cell) bool {
	out.Form, out.Text = Text, b
	return true
}

func (p *postgres) read(columns []Column) error {
	var list []string
	for _, c := range columns {
		if c.Kind == Texts || strings.HasSuffix(c.read, "::text") {
			// What is read of a row has a bound, and no cell takes the room of another.
			c.read = fmt.Sprintf("left(%s, %d)", c.read, maxRow/8/len(columns))
		}
		list = append(list, c.read)
		p.gets = append(p.gets, c.get)
	}
	server := p.conn.PgConn()
	server.Frontend().SetMaxBodyLen(maxRow)
	p.rows = server.ExecParams(p.ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+p.table, nil, nil, nil,
		[]int16{pgx.BinaryFormatCode})
	return nil
}

var errRows = errors.New(op + ": the server's rows are not in the form that was asked for")

func (p *postgres) next(out []Cell) error {
	if !p.rows.NextRow() {
		if _, err := p.rows.Close(); err != nil {
			return serverError(err)
		}
		return io.EOF
	}
	values := p.rows.Values()
	if len(values) != len(out) {
		return errRows
	}
	for i, v := range values {
		c := &out[i]
		if v == nil {
			c.Form = Missing
		} else if !p.gets[i](v, c) {
			return errRows
		}
	}
	return nil
}

func (p *postgres) close() error {
	return p.conn.Close(context.WithoutCancel(p.ctx))
}

// serverError converts an error of a server that has begun to read rows. The error's text may contain
// a cell; its code does not.
func serverError(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("%s: PostgreSQL failed with code %s (see its log)", op, e.Code)
	}
	if _, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok { // its text has the row's length
		return errors.New(op + ": a row must not take more than 16 MiB")
	}
	return fmt.Errorf("%s: %w", op, err)
}
