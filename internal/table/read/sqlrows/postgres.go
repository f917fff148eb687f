// SPDX-License-Identifier: Apache-2.0

//go:build !js

package sqlrows

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// postgres reads a table by COPY, which runs in its own goroutine while rows are parsed.
type postgres struct {
	ctx    context.Context
	conn   *pgx.Conn
	table  string
	gets   []getter
	cancel context.CancelFunc

	full, empty chan []byte
	done        error // error of COPY, once full is closed
	buf         []byte
	at          int
	begun       bool
}

const (
	// chunkBytes is the number of bytes of rows that are passed on at once.
	chunkBytes = 256 << 10
	// maxRow bounds a row. The server sends no more characters of a text than fit into half of it.
	maxRow = 16 << 20
)

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
	ctx, cancel := context.WithCancel(p.ctx)
	p.cancel = cancel
	p.full, p.empty = make(chan []byte, 2), make(chan []byte, 2)
	w := &chunkWriter{ctx: ctx, full: p.full, empty: p.empty}
	go func() {
		defer close(p.full)
		_, err := p.conn.PgConn().CopyTo(ctx, w,
			"COPY (SELECT "+strings.Join(list, ", ")+" FROM "+p.table+") TO STDOUT (FORMAT binary)")
		if err == nil {
			err = w.flush()
		}
		p.done = err
	}()
	return nil
}

// chunkWriter passes on what is written to it.
type chunkWriter struct {
	ctx         context.Context
	full, empty chan []byte
	chunk       []byte
}

func (w *chunkWriter) Write(b []byte) (int, error) {
	if len(w.chunk)+len(b) > chunkBytes && len(w.chunk) > 0 {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	if w.chunk == nil {
		select {
		case w.chunk = <-w.empty:
		default:
			w.chunk = make([]byte, 0, chunkBytes)
		}
	}
	w.chunk = append(w.chunk, b...)
	return len(b), nil
}

func (w *chunkWriter) flush() error {
	select {
	case w.full <- w.chunk:
		w.chunk = nil
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// more appends bytes to those that have not been read yet, which it may move.
func (p *postgres) more() error {
	chunk, ok := <-p.full
	if !ok {
		if p.done != nil {
			return serverError(p.done)
		}
		return errors.New(op + ": the server's rows ended too early")
	}
	old, rest := p.buf, p.buf[p.at:]
	if len(rest) > maxRow {
		return errors.New(op + ": a row must not take more than 16 MiB")
	}
	if len(rest) == 0 {
		p.buf = chunk
		if cap(old) == 0 {
			p.at = 0
			return nil
		}
	} else { // the row goes on in the next chunk
		p.buf, old = append(rest[:len(rest):len(rest)], chunk...), chunk
	}
	p.at = 0
	select {
	case p.empty <- old[:0]:
	default:
	}
	return nil
}

// copySignature is the beginning of the output of COPY; flags and the length of an extension follow.
var copySignature = []byte("PGCOPY\n\xff\r\n\x00")

func (p *postgres) next(out []Cell) error {
	for !p.begun {
		const head = 19
		if len(p.buf)-p.at >= head {
			b := p.buf[p.at:]
			if !bytes.HasPrefix(b, copySignature) || binary.BigEndian.Uint64(b[len(copySignature):]) != 0 {
				return errRows
			}
			p.at += head
			p.begun = true
			break
		}
		if err := p.more(); err != nil {
			return err
		}
	}
	for {
		n, err := p.parseRow(p.buf[p.at:], out)
		if err != nil {
			return err
		}
		if n > 0 {
			p.at += n
			return nil
		}
		if err := p.more(); err != nil {
			return err
		}
	}
}

var errRows = errors.New(op + ": the server's rows are not in the form that was asked for")

// parseRow parses a row and returns its length, or 0 if b holds less than a row.
func (p *postgres) parseRow(b []byte, out []Cell) (int, error) {
	if len(b) < 2 {
		return 0, nil
	}
	switch n := int16(binary.BigEndian.Uint16(b)); {
	case n == -1: // the end, after which COPY must have ended well
		for range p.full {
		}
		if p.done != nil {
			return 0, serverError(p.done)
		}
		return 0, io.EOF
	case int(n) != len(out):
		return 0, errRows
	}
	at := 2
	for i := range out {
		if len(b)-at < 4 {
			return 0, nil
		}
		n := int32(binary.BigEndian.Uint32(b[at:]))
		at += 4
		c := &out[i]
		if n < 0 {
			c.Form = Missing
			continue
		}
		if len(b)-at < int(n) {
			return 0, nil
		}
		if !p.gets[i](b[at:at+int(n)], c) {
			return 0, errRows
		}
		at += int(n)
	}
	return at, nil
}

func (p *postgres) close() error {
	if p.full == nil {
		return p.conn.Close(context.WithoutCancel(p.ctx))
	}
	p.cancel()
	for range p.full {
	}
	return p.conn.Close(context.WithoutCancel(p.ctx))
}

// serverError converts an error of a server that has begun to read rows. The error's text may contain
// a cell; its code does not.
func serverError(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("%s: PostgreSQL failed with code %s (see its log)", op, e.Code)
	}
	return fmt.Errorf("%s: %w", op, err)
}
