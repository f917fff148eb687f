// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	maxRecord = 16 << 20 // bytes stored per CSV record
	maxField  = 1 << 20  // bytes stored per cell
	maxText   = 1 << 20  // bytes copied of records before a batch is passed on
)

// records splits CSV text into records and cells. It replaces encoding/csv, which requires quotes,
// skips blank lines, and does not bound the length of a record.
//
// G-READ-1: splitting is defined for every text. From the first row on, only three things have a
// meaning: the delimiter, a line feed and, in a dialect with quotes, a quote at the beginning of a
// cell. Other quotes are ordinary characters. A correct writer puts these three inside a cell only
// between quotes. A record then has exactly the cells that were written, of any length and content:
// invalid text, comment marks, or magic words of other formats. Only two things are refused: a record
// with a wrong number of cells, and a quote that is never closed. No cell from a correct writer can
// cause either. A blank line is a record of one empty cell.
type records struct {
	file string
	src  io.Reader
	d    schema.Dialect

	buf  []byte // with slack bytes behind it
	r, w int    // buf[r:w] has been read from src and not yet split
	end  error

	// For splitPlain: after a record that ends at scanned, bit i of stops says that the delimiter or a line
	// feed is at block+i.
	scanned, block int
	stops          uint64

	line   int       // line on which the current record starts, from 1, not counting line ends inside cells
	next   int       // line on which the next record starts; line ends in cells are not counted, so that a message reveals nothing about cells
	broken bool      // a cell of the current record contains a line end
	count  int       // number of cells in the current record
	batch  *rowBatch // receives the cells
	fields [][]byte  // the cells of the record of readRecord, unquoted and trimmed; surplus cells are not stored

	cells, orCells int  // valid numbers of cells in a row; 0: not known yet
	begun          bool // a header or a row has been read

	lost bool // the start of the next record is unknown because of a fault
}

// slack is the number of bytes that may be read behind a buffer.
const slack = 64

func newBuffer(n int) []byte { return make([]byte, n, n+slack) }

// openRecords reads the text of a CSV file of dialect d from src, decompresses it as the
// file's name says, and decodes it. It skips everything before the header or the first row.
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
	src, err := unpackText(file, src, buffer)
	if err != nil {
		return nil, err
	}
	src = decodeText(file, src, d.Encoding)
	rs := &records{file: file, src: src, d: d, buf: newBuffer(buffer), scanned: -1, next: 1, batch: new(rowBatch)}
	return rs, rs.skipPreamble()
}

func plainRune(r rune) bool {
	return r > 0 && r < utf8.RuneSelf && r != '\n' && r != '\r'
}

// skipPreamble skips as many lines as the dialect declares, regardless of quotes.
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

// expectCells sets the number of cells in a row to n or, if or is not 0, to n or or.
func (rs *records) expectCells(n, or int) { rs.cells, rs.orCells = n, or }

// readRecord reads the next row, or the header, by the rules of addRecord. Its fields are valid until
// the next call.
func (rs *records) readRecord() error {
	b := rs.batch
	b.clear()
	if err := rs.addRecord(); err != nil {
		return err
	}
	rs.fields = rs.fields[:0]
	for _, at := range b.cells {
		rs.fields = append(rs.fields, findCell(rs.buf, b.text, at))
	}
	return nil
}

// readBatch reads rows into b until the text in the buffer is used up or many long cells have been copied. It
// stops at an error of the source and at the given number of faults.
func (rs *records) readBatch(b *rowBatch, faults int) {
	b.clear()
	for rs.batch = b; b.buf == nil && b.end == nil && len(b.text) < maxText; {
		err := rs.addRecord()
		if err == nil {
			b.width, b.lines = rs.cells, append(b.lines, rs.line)
			continue
		}
		b.cells = b.cells[:len(b.lines)*b.width]
		if fault := (*FaultError)(nil); rs.lost || !errors.As(err, &fault) {
			b.end = err
		} else if b.faults = append(b.faults, rowFault{len(b.lines), fault}); len(b.faults) >= faults {
			b.end = errEnough
		}
	}
	switch {
	case b.buf != nil:
	case b.end != nil:
		b.buf = rs.buf
	default:
		rs.leaveBuffer()
	}
}

// addRecord splits the next row, or the header, and adds its cells to the batch. It returns io.EOF
// after the last one. Every other error is a *FaultError or comes from the source.
//
// A line that starts with the comment mark is skipped before the header. After it, such a line is
// skipped only if it has a wrong number of cells, since it may otherwise be a row. Blank lines after
// the last row are skipped if a row has several cells.
func (rs *records) addRecord() error {
	b := rs.batch
	cells, text := len(b.cells), len(b.text)
	for blank := 0; ; b.cells, b.text = b.cells[:cells], b.text[:text] {
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
		if comment || !rs.splitPlain() {
			if err := rs.splitRecord(); err != nil {
				return err
			}
		}
		if rs.d.Trim {
			rs.trimCells(b.cells[cells:])
		}
		fits := rs.cells == 0 || rs.count == rs.cells || rs.count == rs.orCells
		switch {
		case rs.cells != 1 && rs.orCells != 1 && rs.count == 1 && b.cells[cells].from == b.cells[cells].to:
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

// trimCells removes the spaces and tabs around cells of the current record.
func (rs *records) trimCells(cells []span) {
	for i := range cells {
		at := &cells[i]
		text := findCell(rs.buf, rs.batch.text, *at)
		for ; len(text) > 0 && (text[0] == ' ' || text[0] == '\t'); text = text[1:] {
			at.from++
		}
		at.to = at.from + len(coding.Trim(text))
	}
}

// WantText is the requirement of a file that is not text.
const WantText = `must be text in UTF-8, or in the encoding that the schema declares, such as file: {encoding: windows-1252} ` +
	`or utf-16, and its lines must end in line feeds (the name of a Parquet file ends in ".parquet", that of a packed file ` +
	`in ".gz")`

// readNames reads the next record as a header. Its cells are public, so that it may be refused because
// of their content.
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
			return nil, rs.loseRecords(cmp.Or(describeForeign(rs.file, string(rs.fields[0])), WantText))
		}
		names[i] = string(name)
	}
	return names, nil
}

// hasPrefix reports whether the next bytes are text, and reads no byte after the first difference.
func (rs *records) hasPrefix(text string) bool {
	for i := range len(text) {
		if !rs.has(i+1) || rs.buf[rs.r+i] != text[i] {
			return false
		}
	}
	return true
}

// has reports whether at least n more bytes exist, and reads them.
func (rs *records) has(n int) bool {
	for rs.w-rs.r < n && rs.end == nil {
		rs.fillBuffer()
	}
	return rs.w-rs.r >= n
}

// fillBuffer reads more text. It leaves the buffer to the rows of the batch, if there are some.
func (rs *records) fillBuffer() {
	another := rs.batch.buf == nil && len(rs.batch.lines) > 0
	if another {
		rs.leaveBuffer()
	} else {
		rs.r, rs.w, rs.scanned = 0, copy(rs.buf, rs.buf[rs.r:rs.w]), -1
	}
	for more := true; more; more = another && rs.w < len(rs.buf) && rs.end == nil {
		var n int
		n, rs.end = rs.src.Read(rs.buf[rs.w:])
		rs.w += n
	}
}

// leaveBuffer leaves the buffer to the batch and goes on with another one.
func (rs *records) leaveBuffer() {
	b := rs.batch
	if b.spare == nil {
		b.spare = newBuffer(len(rs.buf))
	}
	rs.r, rs.w, rs.scanned = 0, copy(b.spare, rs.buf[rs.r:rs.w]), -1
	b.buf, rs.buf, b.spare = rs.buf, b.spare, nil
}

// skipMark skips a byte-order mark, which does not belong to a record. If nothing is left, it returns
// the error that ended the source.
func (rs *records) skipMark() error {
	const mark = "\xef\xbb\xbf"
	if rs.hasPrefix(mark) {
		rs.r += len(mark)
	} else if !rs.has(1) {
		return rs.failRead()
	}
	return nil
}

// failRead returns the error that ended the source.
func (rs *records) failRead() error {
	rs.lost = true
	return rs.end
}

// skipLine skips the next line and returns the beginning of it, valid until the next call.
func (rs *records) skipLine() ([]byte, error) {
	if err := rs.skipMark(); err != nil {
		return nil, err
	}
	rs.batch.text = rs.batch.text[:0]
	_, err := rs.takeText('\n', 0, maxField)
	return rs.batch.text, err
}

// most returns the largest number of cells that are stored of a record, 0 for all, and of bytes that
// are stored of a cell.
func (rs *records) most() (cells, bytes int) {
	cells = max(rs.cells, rs.orCells)
	if cells > 0 { // so that no cell takes the room of another
		return cells, min(maxField, maxRecord/cells)
	}
	return 0, maxField
}

// splitRecord splits the next record into cells, and copies them.
func (rs *records) splitRecord() error {
	b := rs.batch
	rs.count, rs.broken = 0, false
	begin := len(b.text)
	most, room := rs.most()
	for more := true; more; rs.count++ {
		keep := room
		if most > 0 && rs.count >= most {
			keep = 0
		}
		from := len(b.text)
		var err error
		if more, err = rs.takeCell(keep); err != nil { // 1.4
			return err
		}
		if keep > 0 {
			b.cells = append(b.cells, span{len(rs.buf) + from, len(rs.buf) + len(b.text)})
		}
		if most == 0 && len(b.text)-begin > maxRecord {
			return rs.loseRecords("must not have a header of more than 16 MiB")
		}
	}
	return nil
}

// takeCell appends the next cell to text, at most room bytes of it, and skips the delimiter or the
// line end after it. more is false at the end of the record.
func (rs *records) takeCell(room int) (more bool, err error) {
	from := len(rs.batch.text)
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

// takeQuoted appends the content of a quoted cell up to its closing quote. The cell begins in text at
// from.
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

// takeText appends bytes up to a delimiter or a line end, which it skips. more is false at a line end
// and at the end of the file.
func (rs *records) takeText(delimiter byte, from, room int) (more bool, err error) {
	bare := len(rs.batch.text)
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
		if b := rs.batch; len(b.text) > bare && b.text[len(b.text)-1] == '\r' {
			b.text = b.text[:len(b.text)-1]
		}
		return false, nil
	}
}

func (rs *records) keepText(piece []byte, from, room int) {
	b := rs.batch
	b.text = append(b.text, piece[:min(len(piece), room-(len(b.text)-from))]...)
}

func (rs *records) fault(requirement string) *FaultError {
	return &FaultError{File: rs.file, Line: rs.line, Fault: requirement}
}

// loseRecords returns a fault after which the rest of the file cannot be read.
func (rs *records) loseRecords(requirement string) *FaultError {
	rs.lost = true
	return rs.fault(requirement)
}
