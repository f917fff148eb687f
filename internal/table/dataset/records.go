// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	maxRecord = 16 << 20 // bytes of one CSV record
	maxField  = 1 << 20  // bytes of one cell
)

// records splits CSV text into records and cells. encoding/csv cannot: it has
// no dialect without quotes, skips blank lines in the middle of a file,
// accepts NUL and lone carriage returns, has no bound on a record, and
// allocates for every record.
//
// A blank line is refused unless only blank lines follow it: it is more often
// a damaged row than nothing, and dropping a row would change n.
type records struct {
	file string
	src  io.Reader
	d    schema.Dialect

	quote   []byte // empty: the dialect has none
	comment []byte

	buf  []byte
	r, w int // buf[r:w] is read from src and not yet split
	end  error

	line   int      // line on which the current record starts, from 1
	next   int      // line on which the next record starts
	raw    []byte   // the current record as written, without its line end
	fields [][]byte // its cells, unquoted and trimmed
	text   []byte   // backs unquoted cells

	lost bool // a fault hides where the next record starts
}

// newRecords reads text of dialect d from src. The file's name is for faults.
func newRecords(file string, src io.Reader, d schema.Dialect, buffer int) (*records, error) {
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
	rs := &records{file: file, src: src, d: d, comment: []byte(d.Comment), buf: make([]byte, buffer), next: 1}
	if d.Quote != 0 {
		rs.quote = []byte{byte(d.Quote)}
	}
	return rs, nil
}

func plainRune(r rune) bool {
	return r > 0 && r < utf8.RuneSelf && r != '\n' && r != '\r'
}

const utf16 = "must be UTF-8, and is UTF-16; save it again as CSV UTF-8 (iconv -f UTF-16 -t UTF-8 does that, too)"

// skipPreamble skips everything before the header or the first row.
func (rs *records) skipPreamble() error {
	marks := []struct{ bytes, fault string }{
		{"\xef\xbb\xbf", ""},
		{"\xff\xfe", utf16},
		{"\xfe\xff", utf16},
		{"PAR1", `must be CSV, and is Parquet; the name of a Parquet file ends in ".parquet"`},
	}
	for _, mark := range marks {
		for rs.end == nil && rs.w < len(mark.bytes) && mark.bytes[:rs.w] == string(rs.buf[:rs.w]) {
			rs.fillBuffer()
		}
		if !bytes.HasPrefix(rs.buf[:rs.w], []byte(mark.bytes)) {
			continue
		}
		if mark.fault != "" {
			return rs.loseRecords(mark.fault)
		}
		rs.r = len(mark.bytes)
		break
	}
	for skipping := rs.d.SkipUntil != ""; skipping; {
		err := rs.skipLine()
		if err == io.EOF {
			return &FaultError{File: rs.file, Fault: "must have the line that the dialect skips to"}
		}
		if err != nil {
			return err
		}
		skipping = string(bytes.TrimSpace(rs.raw)) != rs.d.SkipUntil
	}
	for range rs.d.SkipRecords {
		if err := rs.skipLine(); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

// readRecord splits the next record. It returns io.EOF after the last one. Every
// other error is a *FaultError or comes from the source.
func (rs *records) readRecord() error {
	for {
		if err := rs.readLine(); err != nil {
			return err
		}
		if rs.isBlank(rs.raw) {
			return rs.refuseBlank()
		}
		if !rs.isComment(rs.raw) {
			break
		}
	}
	switch raw := rs.raw; {
	case bytes.IndexByte(raw, 0) >= 0:
		return rs.fault("must not hold a NUL byte")
	case !utf8.Valid(raw):
		return rs.fault("must be UTF-8")
	case hasLoneReturn(raw):
		return rs.fault("must not hold a carriage return without a line feed")
	}
	return rs.splitCells()
}

// skipLine takes the next line, quotes or not.
func (rs *records) skipLine() error {
	rs.line = rs.next
	end, err := rs.lineEnd(0)
	if err != nil {
		return err
	}
	rs.next++
	rs.takeLine(end)
	return nil
}

// readLine takes the next line or, where the dialect has quotes and the line
// leaves one open, the lines up to the one that closes it. Quotes come in pairs
// in a complete record.
func (rs *records) readLine() error {
	rs.line = rs.next
	end, err := rs.lineEnd(0)
	if err != nil {
		return err
	}
	rs.next++
	if len(rs.quote) > 0 {
		from := 0
		open := false
		for {
			line := rs.buf[rs.r+from : rs.r+end]
			if from == 0 && rs.isComment(line) {
				break
			}
			if bytes.Count(line, rs.quote)%2 == 1 {
				open = !open
			}
			if !open {
				break
			}
			from = end + 1
			end, err = rs.lineEnd(from)
			if err == io.EOF {
				return rs.loseRecords("must close every quote")
			}
			if err != nil {
				return err
			}
			rs.next++
		}
	}
	rs.takeLine(end)
	return nil
}

// lineEnd returns the offset from r of the first line feed at or after offset
// from, or of the end of the text. It returns io.EOF when no text is left.
func (rs *records) lineEnd(from int) (int, error) {
	for at := from; ; {
		have := rs.w - rs.r
		if at < have {
			if i := bytes.IndexByte(rs.buf[rs.r+at:rs.w], '\n'); i >= 0 && at+i <= maxRecord {
				return at + i, nil
			}
			at = have
		}
		switch {
		case have > maxRecord:
			return 0, rs.loseRecords("must not hold a record of more than 16 MiB")
		case rs.end == nil:
			rs.fillBuffer()
		case rs.end != io.EOF:
			return 0, rs.end
		case have <= from:
			return 0, io.EOF
		default:
			return have, nil
		}
	}
}

// takeLine makes the first end bytes the current record and steps over its line
// end.
func (rs *records) takeLine(end int) {
	rs.raw = rs.buf[rs.r : rs.r+end : rs.r+end]
	rs.r = min(rs.r+end+1, rs.w)
	if n := len(rs.raw); n > 0 && rs.raw[n-1] == '\r' {
		rs.raw = rs.raw[:n-1]
	}
}

func (rs *records) fillBuffer() {
	if rs.r > 0 {
		copy(rs.buf, rs.buf[rs.r:rs.w])
		rs.r, rs.w = 0, rs.w-rs.r
	}
	if rs.w == len(rs.buf) {
		rs.buf = append(rs.buf, make([]byte, len(rs.buf))...)
	}
	var n int
	n, rs.end = rs.src.Read(rs.buf[rs.w:])
	rs.w += n
}

// refuseBlank reads on after a blank line: it is the end of the rows, or a fault.
func (rs *records) refuseBlank() error {
	line := rs.line
	for {
		end, err := rs.lineEnd(0)
		if err != nil {
			return err // most often io.EOF
		}
		rest := bytes.TrimSuffix(rs.buf[rs.r:rs.r+end], []byte("\r"))
		if !rs.isBlank(rest) && !rs.isComment(rest) {
			return &FaultError{File: rs.file, Line: line, Fault: "must not be blank, since rows follow"}
		}
		rs.next++
		rs.takeLine(end)
	}
}

func (rs *records) isBlank(line []byte) bool {
	return len(line) == 0 || rs.d.Trim && len(coding.Trim(line)) == 0
}

func (rs *records) isComment(line []byte) bool {
	return len(rs.comment) > 0 && bytes.HasPrefix(line, rs.comment)
}

func (rs *records) fault(requirement string) *FaultError {
	return &FaultError{File: rs.file, Line: rs.line, Fault: requirement}
}

// loseRecords reports a fault after which the file cannot be read on.
func (rs *records) loseRecords(requirement string) *FaultError {
	rs.lost = true
	return rs.fault(requirement)
}

// splitCells cuts the current record into cells.
func (rs *records) splitCells() error {
	rs.fields, rs.text = rs.fields[:0], rs.text[:0]
	delimiter := byte(rs.d.Delimiter)
	rest := rs.raw
	for {
		var cell []byte
		var err error
		more := false
		if rs.startsQuoted(rest) {
			if cell, rest, more, err = rs.unquoteCell(rest); err != nil {
				return err
			}
		} else {
			cell, rest, more = cutCell(rest, delimiter)
			if rs.d.Quote != 0 && bytes.IndexByte(cell, byte(rs.d.Quote)) >= 0 {
				return rs.fault("must not have a quote inside an unquoted cell")
			}
		}
		if len(cell) > maxField {
			return rs.fault("must not hold a cell of more than 1 MiB")
		}
		if rs.d.Trim {
			cell = coding.Trim(cell)
		}
		rs.fields = append(rs.fields, cell)
		if !more {
			return nil
		}
	}
}

func (rs *records) startsQuoted(rest []byte) bool {
	if rs.d.Quote == 0 {
		return false
	}
	if rs.d.Trim {
		rest = bytes.TrimLeft(rest, " \t")
	}
	return len(rest) > 0 && rest[0] == byte(rs.d.Quote)
}

// unquoteCell reads one quoted cell and the delimiter behind it.
func (rs *records) unquoteCell(rest []byte) (cell, after []byte, more bool, err error) {
	quote := byte(rs.d.Quote)
	rest = rest[bytes.IndexByte(rest, quote)+1:]
	// Room for the whole rest at once: cells already cut keep their memory.
	if cap(rs.text)-len(rs.text) < len(rest) {
		rs.text = make([]byte, 0, 2*len(rest)+64)
	}
	from := len(rs.text)
	for {
		i := bytes.IndexByte(rest, quote)
		if i < 0 {
			return nil, nil, false, rs.fault("must close every quote")
		}
		rs.text = append(rs.text, rest[:i]...)
		rest = rest[i+1:]
		if len(rest) == 0 || rest[0] != quote {
			break
		}
		rs.text = append(rs.text, quote)
		rest = rest[1:]
	}
	cell = rs.text[from:len(rs.text):len(rs.text)]
	between, after, more := cutCell(rest, byte(rs.d.Delimiter))
	if rs.d.Trim {
		between = coding.Trim(between)
	}
	if len(between) > 0 {
		return nil, nil, false, rs.fault("must have a delimiter behind a closing quote")
	}
	return cell, after, more, nil
}

func cutCell(text []byte, delimiter byte) (before, after []byte, found bool) {
	for i, b := range text {
		if b == delimiter {
			return text[:i], text[i+1:], true
		}
	}
	return text, nil, false
}

func hasLoneReturn(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\r')
		if i < 0 {
			return false
		}
		if i+1 >= len(text) || text[i+1] != '\n' {
			return true
		}
		text = text[i+1:]
	}
}
