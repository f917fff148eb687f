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
	row     []byte
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
	t.row = t.row[:0]
	for i := range cells {
		if err := t.addCell(&cells[i]); err != nil {
			return err
		}
	}
	for i := range added {
		if err := t.addCell(&added[i]); err != nil {
			return err
		}
	}
	t.row[len(t.row)-1] = '\n' // for the last delimiter
	_, err := t.w.Write(t.row)
	return err
}

// addCell appends a cell and a delimiter to the row.
func (t *textSink) addCell(c *cell) error {
	switch c.form {
	case absent:
		if c.text == nil { // not of a CSV file
			return t.addText([]byte(t.missing))
		}
	case numeric:
		t.number = coding.AppendDecimal(t.number[:0], c.number)
		if i := bytes.IndexByte(t.number, '.'); i >= 0 && t.d.Decimal == ',' {
			t.number[i] = ','
		}
		return t.addText(t.number)
	}
	return t.addText(c.text)
}

func (t *textSink) addText(text []byte) error {
	from := len(t.row)
	t.row = append(t.row, text...)
	special := false
	for _, b := range text {
		special = special || t.special[b]
	}
	if quote := byte(t.d.Quote); special {
		if quote == 0 {
			return errUnquotable
		}
		t.row = append(t.row[:from], quote)
		for _, b := range text {
			if b == quote {
				t.row = append(t.row, quote)
			}
			t.row = append(t.row, b)
		}
		t.row = append(t.row, quote)
	}
	t.row = append(t.row, byte(t.d.Delimiter))
	return nil
}

func (t *textSink) close() error { return errors.Join(t.w.Flush(), t.encoder.Close()) }
