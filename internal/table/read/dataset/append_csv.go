// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// textSink writes CSV in a dialect.
type textSink struct {
	encoder io.Closer
	w       *bufio.Writer
	d       schema.Dialect
	missing string
	number  []byte
	special [256]bool // bytes that need quotes around a cell
}

func newTextSink(w io.Writer, d schema.Dialect, names []string, added []Added) (*textSink, error) {
	encoder := encodeText(w, d.Encoding)
	out := &textSink{encoder: encoder, w: bufio.NewWriterSize(encoder, 256<<10), d: d}
	for _, c := range []rune{'\r', '\n', d.Delimiter, d.Quote} {
		out.special[byte(c)] = c != 0
	}
	if len(d.Missing) > 0 {
		out.missing = d.Missing[0]
	}
	// Lines that the schema skips, or what is written would not fit it.
	if d.SkipUntil != "" {
		out.w.WriteString(d.SkipUntil + "\n")
	}
	for range d.SkipRecords {
		out.w.WriteByte('\n')
	}
	if !d.Header {
		return out, nil
	}
	titles := func(names []string) (cells []cell) {
		for _, name := range names {
			cells = append(cells, cell{form: textual, text: []byte(name)})
		}
		return cells
	}
	var extra []string
	for _, a := range added {
		extra = append(extra, a.Name)
	}
	return out, out.writeRow(titles(names), titles(extra))
}

func (t *textSink) writeRow(cells, added []cell) error {
	if err := t.writeCells(cells); err != nil {
		return err
	}
	if len(added) > 0 {
		t.w.WriteByte(byte(t.d.Delimiter))
	}
	if err := t.writeCells(added); err != nil {
		return err
	}
	return t.w.WriteByte('\n')
}

func (t *textSink) writeCells(cells []cell) error {
	for i := range cells {
		if i > 0 {
			t.w.WriteByte(byte(t.d.Delimiter))
		}
		if err := t.writeCell(&cells[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *textSink) writeCell(c *cell) error {
	switch c.form {
	case absent:
		if c.text == nil { // not of a CSV file
			return t.writeText([]byte(t.missing))
		}
	case numeric:
		t.number = coding.AppendDecimal(t.number[:0], c.number)
		if i := bytes.IndexByte(t.number, '.'); i >= 0 && t.d.Decimal == ',' {
			t.number[i] = ','
		}
		return t.writeText(t.number)
	}
	return t.writeText(c.text)
}

func (t *textSink) writeText(text []byte) error {
	special := false
	for _, b := range text {
		special = special || t.special[b]
	}
	quote := byte(t.d.Quote)
	if !special {
		_, err := t.w.Write(text)
		return err
	}
	if quote == 0 {
		return errUnquotable
	}
	t.w.WriteByte(quote)
	for _, b := range text {
		if b == quote {
			t.w.WriteByte(quote)
		}
		t.w.WriteByte(b)
	}
	return t.w.WriteByte(quote)
}

func (t *textSink) close() error { return errors.Join(t.w.Flush(), t.encoder.Close()) }
