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
	"github.com/discreet-dp/discreet/internal/table/read/coding"
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
	c := Column{Name: f.Name, Type: coding.Type{Form: coding.Text}, read: name + "::text", get: getText}
	as := func(kind string, form coding.Form, get getter) {
		c.Type.Name, c.Type.Form, c.read, c.get = kind, form, name, get
	}
	integer := func(kind string, bits int) {
		as(kind, coding.Integer, getInteger)
		c.Type.Least, c.Type.Most = -1<<(bits-1), 1<<(bits-1)-1
	}
	switch f.DataTypeOID {
	case 16:
		as("boolean", coding.Truth, getTruth)
	case 21:
		integer("smallint", 16)
	case 23:
		integer("integer", 32)
	case 20:
		integer("bigint", 64)
	case 700:
		as("real", coding.Single, getFloat)
	case 701:
		as("double precision", coding.Float, getFloat)
	case 1700: // as text, which holds all digits
		c.Type, c.get = numericType(f.TypeModifier), getDecimal
	case 790: // money, as text without a currency
		c.Type, c.get = coding.Type{Name: "money", Form: coding.Decimal, Scale: -1}, getDecimal
		c.read = name + "::numeric::text"
	case 25, 1043:
		c.read = name
	case 1042, 18, 19: // padded, or names
	case 1082:
		as("date", coding.Day, getDay)
	case 1114:
		as("timestamp", coding.Instant, getLocal)
	case 1184:
		as("timestamptz", coding.Instant, getInstant)
	case 1083, 1186, 1266, 2950:
		c.Type.Name, c.Type.Words = map[uint32]string{1083: "time", 1186: "interval", 1266: "timetz", 2950: "uuid"}[f.DataTypeOID], true
	default:
		var kind, category string
		if err := p.conn.QueryRow(p.ctx, "SELECT typname::text, typtype::text, typcategory::text FROM pg_catalog.pg_type "+
			"WHERE oid = $1", f.DataTypeOID).Scan(&c.Type.Name, &kind, &category); err != nil {
			return c, serverError(err)
		}
		if kind != "e" && category != "S" { // neither an enumeration nor a text, such as citext
			c.Type.Form = coding.Unknown
		}
	}
	return c, nil
}

// numericType interprets the modifier of a numeric column, which is -1 if each cell has its own scale.
func numericType(modifier int32) coding.Type {
	t := coding.Type{Name: "numeric", Form: coding.Decimal, Scale: -1}
	if modifier < 0 {
		return t
	}
	precision := int(modifier-4) >> 16
	scale := (int(modifier-4)&0x7ff ^ 0x400) - 0x400
	t.Name, t.Scale = fmt.Sprintf("numeric(%d,%d)", precision, scale), max(scale, 0)
	if digits := precision - scale; digits > 0 && digits <= 18 {
		t.Most = int64(math.Pow10(digits)) - 1
		t.Least = -t.Most
	}
	return t
}

func getTruth(b []byte, out *Cell) bool {
	if len(b) != 1 {
		return false
	}
	out.Form, out.Integer = coding.Truth, int64(b[0])
	return true
}

func getInteger(b []byte, out *Cell) bool {
	out.Form = coding.Integer
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

const (
	microsOfSecond = 1_000_000
	microsOfDay    = 24 * 60 * 60 * microsOfSecond
	epochDay       = 10_957 // 2000-01-01, from which PostgreSQL counts, in days since 1970-01-01
)

// getTime reads an integer that counts from 2000-01-01, in units of which a day or a second has so many.
// The greatest and the least one are infinite: no time.
func getTime(b []byte, out *Cell, form coding.Form, units, epoch int64) bool {
	if len(b) < 4 || !getInteger(b, out) {
		return false
	}
	if bits := 8 * len(b); out.Integer == 1<<(bits-1)-1 || out.Integer == -1<<(bits-1) {
		out.Form, out.Text = coding.Text, []byte("infinity")
		return true
	}
	at := out.Integer / units
	if out.Integer%units < 0 {
		at--
	}
	out.Form, out.Integer = form, at+epoch
	return true
}

func getDay(b []byte, out *Cell) bool   { return getTime(b, out, coding.Day, 1, epochDay) }
func getLocal(b []byte, out *Cell) bool { return getTime(b, out, coding.Day, microsOfDay, epochDay) }
func getInstant(b []byte, out *Cell) bool {
	return getTime(b, out, coding.Instant, microsOfSecond, epochDay*microsOfDay/microsOfSecond)
}

func getFloat(b []byte, out *Cell) bool {
	switch len(b) {
	case 4:
		out.Form, out.Float = coding.Single, float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		out.Form, out.Float = coding.Float, math.Float64frombits(binary.BigEndian.Uint64(b))
	default:
		return false
	}
	return true
}

func getText(b []byte, out *Cell) bool {
	out.Form, out.Text = coding.Text, b
	return true
}

func getDecimal(b []byte, out *Cell) bool {
	out.Form, out.Text = coding.Decimal, b
	return true
}

func (p *postgres) read(columns []Column) error {
	var list []string
	for _, c := range columns {
		if c.Type.Form == coding.Text || strings.HasSuffix(c.read, "::text") {
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
			c.Form = coding.None
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
