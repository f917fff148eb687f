// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	maxRecord = 16 << 20 // bytes that are kept of one CSV record
	maxField  = 1 << 20  // bytes that are kept of one cell
)

// records splits CSV text into records and cells. encoding/csv cannot: it has
// no dialect without quotes, skips blank lines, and has no bound on a record.
//
// G-READ-1: splitting is total. From the first row on, nothing but the delimiter, a line feed and,
// in a dialect with quotes, a quote that begins a cell means anything; a quote is ordinary
// elsewhere. A correct writer puts these three inside a cell between quotes only, so a record has
// the cells that were written, whatever they hold: bytes of no text, marks of comments, magic words
// of other formats, any length. Only two things are refused, and no cell that such a writer wrote
// causes either: a record with another number of cells than a row, and a quote that is never
// closed. A blank line is a record of one empty cell.
type records struct {
	file string
	src  io.Reader
	d    schema.Dialect

	buf  []byte
	r, w int // buf[r:w] is read from src and not yet split
	end  error

	line   int      // line on which the current record starts, from 1, not counting line ends inside cells
	next   int      // line on which the next record starts: counted so, a message does not tell of cells
	broken bool     // a cell of the current record holds a line end
	count  int      // cells of the current record
	fields [][]byte // the cells, unquoted and trimmed; those beyond a row's number are not kept
	text   []byte   // backs fields
	ends   []int    // of the cells in text

	cells, orCells int  // a row has as many, or as many; 0: not known yet
	begun          bool // a header or a row was read

	lost bool // a fault hides where the next record starts
}

// openRecords reads the text of a CSV file of dialect d from src, unpacked where the file's name
// says that it is gzip. Everything before the header or the first row is skipped.
func openRecords(file string, src io.Reader, d schema.Dialect, buffer int) (*records, error) {
	switch {
	case !plainRune(d.Delimiter):
		return nil, &dp.ParamError{Op: "dataset", Param: "delimiter",
			Want: "must be one ASCII character other than a line end", Got: string(d.Delimiter)}
	case d.Quote != 0 && !plainRune(d.Quote):
		return nil, &dp.ParamError{Op: "dataset", Param: "quote",
			Want: "must be one ASCII character other than a line end, or none", Got: string(d.Quote)}
	case d.Quote == d.Delimiter:
		return nil, &dp.ParamError{Op: "dataset", Param: "quote", Want: "must differ from the delimiter",
			Got: string(d.Quote)}
	}
	if strings.HasSuffix(file, ".gz") { // 1.3
		var err error
		if src, err = unpackText(file, src, buffer); err != nil {
			return nil, err
		}
	}
	rs := &records{file: file, src: src, d: d, buf: make([]byte, buffer), next: 1}
	return rs, rs.skipPreamble()
}

func plainRune(r rune) bool {
	return r > 0 && r < utf8.RuneSelf && r != '\n' && r != '\r'
}

// skipPreamble skips the lines that the dialect skips, quotes or not.
func (rs *records) skipPreamble() error {
	for skipping := rs.d.SkipUntil != ""; skipping; {
		line, err := rs.skipLine()
		if err == io.EOF {
			return &FaultError{File: rs.file, Fault: "must have the line that the dialect skips to"}
		}
		if err != nil {
			return err
		}
		skipping = string(bytes.TrimSpace(line)) != rs.d.SkipUntil
	}
	for range rs.d.SkipRecords {
		if _, err := rs.skipLine(); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

// expectCells says that a row has n cells, or, where or is not 0, as many as that.
func (rs *records) expectCells(n, or int) { rs.cells, rs.orCells = n, or }

// readRecord splits the next row, or the header. It returns io.EOF after the last one. Every
// other error is a *FaultError or comes from the source.
//
// A line that starts with the mark of comments is skipped before the header, and elsewhere if it
// has another number of cells than a row: it may be a row otherwise. Blank lines behind the last
// row are skipped if a row has several cells.
func (rs *records) readRecord() error {
	blank := 0
	for {
		rs.line = rs.next
		if err := rs.skipMark(); err != nil {
			return err
		}
		comment := rs.d.Comment != "" && rs.hasPrefix(rs.d.Comment)
		if comment && rs.d.Header && !rs.begun {
			if _, err := rs.skipLine(); err != nil {
				return err
			}
			continue
		}
		if err := rs.splitRecord(); err != nil {
			return err
		}
		fits := rs.cells == 0 || rs.count == rs.cells || rs.count == rs.orCells
		switch {
		case rs.cells != 1 && rs.orCells != 1 && rs.count == 1 && len(rs.fields[0]) == 0:
			if blank == 0 {
				blank = rs.line
			}
		case comment && !fits && !rs.broken: // 1.2
		case blank > 0:
			return &FaultError{File: rs.file, Line: blank, Fault: "must not be blank, since rows follow"}
		case !fits:
			return rs.fault(fmt.Sprintf("must have %d cells", rs.cells))
		default:
			rs.begun = true
			rs.expectCells(rs.count, 0)
			return nil
		}
	}
}

const wantText = `must be text in UTF-8 whose lines end in line feeds (of Latin-1 or Windows-1252, iconv -f WINDOWS-1252 ` +
	`-t UTF-8 makes it, of UTF-16, iconv -f UTF-16 -t UTF-8; the name of a Parquet file ends in ".parquet", that of a ` +
	`packed file in ".gz")`

// readNames reads the next record as a header. Its cells are public, so it may be refused for what
// they hold.
func (rs *records) readNames() ([]string, error) {
	switch err := rs.readRecord(); {
	case err == io.EOF:
		return nil, &FaultError{File: rs.file, Fault: "must have a header"}
	case err != nil:
		return nil, err
	}
	names := make([]string, len(rs.fields))
	for i, name := range rs.fields {
		if !utf8.Valid(name) || bytes.ContainsAny(name, "\x00\r") {
			return nil, rs.loseRecords(cmp.Or(describeForeign(string(rs.fields[0])), wantText))
		}
		names[i] = string(name)
	}
	return names, nil
}

// hasPrefix reports whether the next bytes are text, and reads no byte behind the first one that
// differs.
func (rs *records) hasPrefix(text string) bool {
	for i := range len(text) {
		if !rs.has(i+1) || rs.buf[rs.r+i] != text[i] {
			return false
		}
	}
	return true
}

// has reports whether n more bytes are there, which it reads.
func (rs *records) has(n int) bool {
	for rs.w-rs.r < n && rs.end == nil {
		rs.fillBuffer()
	}
	return rs.w-rs.r >= n
}

func (rs *records) fillBuffer() {
	if rs.r > 0 {
		copy(rs.buf, rs.buf[rs.r:rs.w])
		rs.r, rs.w = 0, rs.w-rs.r
	}
	var n int
	n, rs.end = rs.src.Read(rs.buf[rs.w:])
	rs.w += n
}

// skipMark steps over a byte-order mark, which counts before no record, and returns the error that
// ended the source if nothing is left.
func (rs *records) skipMark() error {
	const mark = "\xef\xbb\xbf"
	if rs.hasPrefix(mark) {
		rs.r += len(mark)
	} else if !rs.has(1) {
		return rs.failRead()
	}
	return nil
}

// failRead is the error that ended the source.
func (rs *records) failRead() error {
	rs.lost = true
	return rs.end
}

// skipLine takes the next line and returns the beginning of it, valid until the next call.
func (rs *records) skipLine() ([]byte, error) {
	if err := rs.skipMark(); err != nil {
		return nil, err
	}
	rs.text = rs.text[:0]
	_, err := rs.takeText('\n', 0, maxField)
	return rs.text, err
}

// splitRecord takes the next record apart.
func (rs *records) splitRecord() error {
	rs.fields, rs.text, rs.ends, rs.count, rs.broken = rs.fields[:0], rs.text[:0], rs.ends[:0], 0, false
	most := max(rs.cells, rs.orCells)
	room := maxField
	if most > 0 { // so that no cell takes the room of another
		room = min(room, maxRecord/most)
	}
	for more := true; more; rs.count++ {
		keep := room
		if most > 0 && rs.count >= most {
			keep = 0
		}
		var err error
		if more, err = rs.takeCell(keep); err != nil { // 1.4
			return err
		}
		if keep > 0 {
			rs.ends = append(rs.ends, len(rs.text))
		}
		if most == 0 && len(rs.text) > maxRecord {
			return rs.loseRecords("must not have a header of more than 16 MiB")
		}
	}
	from := 0
	for _, end := range rs.ends {
		cell := rs.text[from:end:end]
		if rs.d.Trim {
			cell = coding.Trim(cell)
		}
		rs.fields = append(rs.fields, cell)
		from = end
	}
	return nil
}

// takeCell puts the next cell behind text, at most room bytes of it, and steps over the delimiter
// or the line end behind it. more is false at the end of the record.
func (rs *records) takeCell(room int) (more bool, err error) {
	from := len(rs.text)
	delimiter := byte(rs.d.Delimiter)
	if quote := byte(rs.d.Quote); quote != 0 {
		// 1.1
		for rs.d.Trim && rs.has(1) && (rs.buf[rs.r] == ' ' || rs.buf[rs.r] == '\t') && rs.buf[rs.r] != delimiter {
			rs.r++
		}
		if rs.has(1) && rs.buf[rs.r] == quote {
			rs.r++
			if err := rs.takeQuoted(quote, from, room); err != nil {
				return false, err
			}
		}
	}
	return rs.takeText(delimiter, from, room)
}

// takeQuoted takes what a quoted cell, which begins in text at from, holds up to the quote that
// closes it.
func (rs *records) takeQuoted(quote byte, from, room int) error {
	for {
		rest := rs.buf[rs.r:rs.w]
		i := bytes.IndexByte(rest, quote)
		piece := rest
		if i >= 0 {
			piece = rest[:i]
		}
		rs.keepText(piece, from, room)
		rs.broken = rs.broken || bytes.IndexByte(piece, '\n') >= 0 // 1.5
		rs.r += len(piece)
		switch {
		case i >= 0:
			rs.r++
			if !rs.has(1) || rs.buf[rs.r] != quote {
				return nil
			}
			rs.keepText([]byte{quote}, from, room)
			rs.r++
		case rs.end == nil:
			rs.fillBuffer()
		case rs.end == io.EOF:
			return rs.loseRecords("must close every quote")
		default:
			return rs.failRead()
		}
	}
}

// takeText takes bytes up to a delimiter or a line end, over which it steps. more is false at a
// line end and at the end of the file.
func (rs *records) takeText(delimiter byte, from, room int) (more bool, err error) {
	bare := len(rs.text)
	for {
		rest := rs.buf[rs.r:rs.w]
		i := 0
		for i < len(rest) && rest[i] != delimiter && rest[i] != '\n' {
			i++
		}
		rs.keepText(rest[:i], from, room)
		rs.r += i
		switch {
		case i < len(rest):
			rs.r++
			if rest[i] != '\n' {
				return true, nil
			}
			rs.next++
		case rs.end == nil:
			rs.fillBuffer()
			continue
		case rs.end != io.EOF:
			return false, rs.failRead()
		}
		if n := len(rs.text); n > bare && rs.text[n-1] == '\r' {
			rs.text = rs.text[:n-1]
		}
		return false, nil
	}
}

func (rs *records) keepText(piece []byte, from, room int) {
	rs.text = append(rs.text, piece[:min(len(piece), room-(len(rs.text)-from))]...)
}

func (rs *records) fault(requirement string) *FaultError {
	return &FaultError{File: rs.file, Line: rs.line, Fault: requirement}
}

// loseRecords reports a fault after which the file cannot be read on.
func (rs *records) loseRecords(requirement string) *FaultError {
	rs.lost = true
	return rs.fault(requirement)
}
