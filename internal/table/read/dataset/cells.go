// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cells in place of a path reads columns that another program writes to standard input. Cells keep their
// types, and no cell is turned into text. Numbers are little-endian.
//
// The stream begins with the byte 2 and the number of columns. Each column has its name, the form of its
// cells, the name of its type, the least and the most integer of the type (eight bytes each, both 0 if
// there is no bound), and its digits behind the point. Blocks of 1 to 65,536 rows follow, each begun by
// the number of rows; 0 ends the stream. Of each column a block has the number of parts, at most 16, in one
// byte, the form of each part, and, unless there is one part, one byte a row: the row's part, from 0. The
// cells of each part follow in the order of their rows. All forms but - must be the column's, if that is
// not a:
//
//   - a missing cell, of no bytes
//     i  an int64, or u, a uint64
//     f  a float64, of which NaN is missing
//     s  a float32, likewise
//     b  a byte: 0 is false, and all others are true
//     d  days since 1970-01-01, an int64
//     z  seconds since 1970-01-01 in UTC, and those by which its zone is east of UTC, two int64
//     t  a text: UTF-8, of which the first MiB counts
//     x  the digits of an exact number, such as -12.50
//     a  of a column alone: each cell has a form of its own
//     ?  of a column alone: its cells have none of these forms, and are missing
//
// Texts are coded: their number, at most 65,536, then two bytes a cell, and then the texts. Other numbers
// of things take four bytes, as does the length in bytes that begins a text.
const Cells = "cells:-"

func isStdin(path string) bool { return path == "-" || path == Cells }

// cellForms are the forms of columns, and cellSizes the bytes of a cell of a form.
var (
	cellForms = map[byte]coding.Form{'-': coding.None, 'i': coding.Integer, 'u': coding.Integer, 'f': coding.Float,
		's': coding.Single, 'b': coding.Truth, 'd': coding.Day, 'z': coding.Instant, 't': coding.Text, 'x': coding.Decimal,
		'a': coding.Any, '?': coding.Unknown}
	cellSizes = [256]int{'i': 8, 'u': 8, 'f': 8, 's': 4, 'b': 1, 'd': 8, 'z': 16}
)

const (
	cellsVersion = 2
	maxCellRows  = 1 << 16 // of a block
	maxCellParts = 16
)

// cellStream is a stream of columns.
type cellStream struct {
	ctx    context.Context
	in     *bufio.Reader
	names  []string
	types  []coding.Type
	forms  []byte
	coders []*coder // nil: a column is not read
	err    error    // the first one; what is read after it is 0
	raw    []byte
	part   []byte   // of each row of a column
	pairs  []byte   // of each text cell of a part, its text
	codes  []uint32 // of each cell of a part
	whole  []uint32 // of each cell of a column
}

var errBrokenCells = &FaultError{File: memoryFile, Fault: "must be columns as the format has them, to their end"}

// readCells appends the rows of a stream of columns. It does not depend on the content of cells: a stream
// that violates the format is refused for any content.
func (r *reader) readCells() error {
	in, err := r.openCells()
	for err == nil {
		var rows int
		if rows, err = in.readBlock(r); rows == 0 {
			break
		}
		if r.rows += rows; err == nil {
			err = r.endFullBlock()
		}
	}
	return err
}

// openCells begins to read standard input as a stream of columns.
func (r *reader) openCells() (*cellStream, error) {
	in, ok := r.opts.Stdin.(*bufio.Reader)
	if !ok {
		in = bufio.NewReaderSize(&watchingReader{r.ctx, r.opts.Stdin}, 256<<10)
	}
	if r.stream == nil {
		r.stream = new(cellStream)
	}
	s := r.stream
	s.ctx, s.in, s.forms, s.err = r.ctx, in, s.forms[:0], nil
	if s.takeByte() != cellsVersion {
		s.breakOff()
	}
	var names []string
	var types []coding.Type
	for range s.takeLength() { // they are made for what is there
		name, form := string(s.takeText()), s.takeByte()
		of, known := cellForms[form]
		if !known {
			s.breakOff()
		}
		t := coding.Type{Form: of, Name: string(s.takeText()), Least: s.takeInteger(), Most: s.takeInteger(), Scale: s.takeLength()}
		if s.err != nil {
			break
		}
		names, types, s.forms = append(names, name), append(types, t), append(s.forms, form)
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.coders != nil && slices.Equal(names, s.names) && slices.Equal(types, s.types) {
		return s, nil // as the stream before
	}
	s.coders = nil
	plan, err := r.layoutByName(memoryFile, 0, names)
	if err != nil {
		return nil, err
	}
	for k, c := range plan.coders {
		if c == nil {
			continue
		}
		if want := c.CannotCarry(types[k]); want != "" {
			return nil, &FaultError{File: memoryFile, Column: c.Name, Fault: want}
		}
	}
	s.names, s.types, s.coders = names, types, plan.coders
	return s, nil
}

// readBlock appends the next block to the coders of r, and returns its rows, 0 at the end.
func (s *cellStream) readBlock(r *reader) (rows int, err error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if rows = s.takeLength(); rows > maxCellRows {
		s.breakOff()
	}
	if s.err == nil && rows > r.opts.MaxRows-r.rows {
		return 0, &FaultError{File: memoryFile, Fault: fmt.Sprintf("must not go beyond %d rows", r.opts.MaxRows)}
	}
	type place struct{ row, column int }
	var refused []place
	for k := range s.coders {
		if s.err != nil || rows == 0 {
			break
		}
		for _, row := range s.readColumn(k, rows) {
			refused = append(refused, place{row, k})
		}
	}
	if s.err != nil {
		return 0, s.err
	}
	slices.SortFunc(refused, func(a, b place) int { return cmp.Or(a.row-b.row, a.column-b.column) })
	for _, at := range refused {
		c := s.coders[at.column]
		fault := &FaultError{File: memoryFile, Line: r.rows + at.row + 1, Column: c.Name, Fault: c.Want}
		if err := r.faults.addFault(fault); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// readColumn codes a column of a block, and returns the rows whose cell is refused.
func (s *cellStream) readColumn(k, rows int) (refused []int) {
	n := int(s.takeByte())
	forms := slices.Clone(s.takeBytes(n))
	if n < 1 || n > maxCellParts {
		s.breakOff()
	}
	for _, form := range forms {
		if is := cellForms[form]; form != '-' && (is == coding.None || is != cellForms[s.forms[k]] && s.forms[k] != 'a' || is >= coding.Any) {
			s.breakOff()
		}
	}
	s.part = s.part[:0]
	if n > 1 {
		s.part = append(s.part, s.takeBytes(rows)...)
	}
	if s.err != nil {
		return nil
	}
	count := make([]int, n)
	count[0] = rows - len(s.part)
	for _, part := range s.part {
		if int(part) >= n {
			s.breakOff()
			return nil
		}
		count[part]++
	}
	starts := make([]int, n) // of each part's codes
	s.codes = s.codes[:0]
	for i, form := range forms {
		starts[i] = len(s.codes)
		s.readPart(k, form, count[i])
	}
	c := s.coders[k]
	if s.err != nil || c == nil {
		return nil
	}
	codes := s.codes
	if n > 1 {
		codes = s.whole[:0]
		for _, part := range s.part {
			codes = append(codes, s.codes[starts[part]])
			starts[part]++
		}
		s.whole = codes
	}
	for row, code := range codes {
		if code == uncoded {
			refused, codes[row] = append(refused, row), 0
		}
	}
	c.flushCodes()
	c.store(codes)
	return refused
}

// readPart appends the codes of n cells of a form to those of the column.
func (s *cellStream) readPart(k int, form byte, n int) {
	if form == 't' || form == 'x' {
		s.readTexts(k, form, n)
		return
	}
	size := cellSizes[form]
	raw := s.takeBytes(n * size)
	c := s.coders[k]
	if s.err != nil || c == nil {
		return
	}
	s.codes = slices.Grow(s.codes, n)
	for ; n > 0; n-- {
		var v column.Cell
		var fate coding.Fate
		switch form {
		case '-':
			v, fate = c.ReadMissing()
		case 'i':
			v, fate = c.ReadInteger(int64(binary.LittleEndian.Uint64(raw)))
		case 'u':
			v, fate = c.ReadCell(coding.UnsignedCell(binary.LittleEndian.Uint64(raw)))
		case 'f':
			v, fate = c.ReadFloat(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		case 's':
			v, fate = c.ReadSingle(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		case 'b':
			v, fate = c.ReadTruth(raw[0] != 0)
		case 'd':
			v, fate = c.ReadDay(int(int64(binary.LittleEndian.Uint64(raw))))
		case 'z':
			v, fate = c.ReadInstant(int64(binary.LittleEndian.Uint64(raw)), int(int64(binary.LittleEndian.Uint64(raw[8:]))))
		}
		code, fate := c.code(v, fate)
		s.codes = append(s.codes, c.keep(code, fate, 1))
		raw = raw[size:]
	}
}

// readTexts is readPart for coded texts. A text that no cell has does not count.
func (s *cellStream) readTexts(k int, form byte, n int) {
	texts := s.takeLength()
	if texts > maxCellRows {
		s.breakOff()
	}
	s.pairs = append(s.pairs[:0], s.takeBytes(2*n)...)
	raw := s.pairs
	if s.err != nil {
		return
	}
	uses := make([]int, texts)
	for at := 0; at < len(raw); at += 2 {
		text := int(binary.LittleEndian.Uint16(raw[at:]))
		if text >= texts {
			s.breakOff()
			return
		}
		uses[text]++
	}
	c := s.coders[k]
	codes := make([]uint32, texts)
	for i := range codes {
		text := s.takeText()
		if s.err != nil || c == nil || uses[i] == 0 {
			continue
		}
		code, fate := uint32(0), coding.Fate(0)
		if form == 't' {
			code, fate = c.code(coding.ReadText(c.Coder, text))
		} else {
			code, fate = c.code(coding.ReadDecimal(c.Coder, text))
		}
		codes[i] = c.keep(code, fate, uses[i])
	}
	for at := 0; at < len(raw) && c != nil; at += 2 {
		s.codes = append(s.codes, codes[binary.LittleEndian.Uint16(raw[at:])])
	}
}

// keep counts cells by their fate, and returns their code, or uncoded if they are refused.
func (c *coder) keep(code uint32, fate coding.Fate, cells int) uint32 {
	c.count(fate, cells)
	if fate.Refused() {
		return uncoded
	}
	return code
}

// breakOff refuses the stream.
func (s *cellStream) breakOff() { s.fail(errBrokenCells) }

func (s *cellStream) fail(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errBrokenCells
	}
	if s.err == nil {
		s.err = err
	}
}

// takeBytes returns the next n bytes, valid until the next call. It allocates memory only for bytes that
// exist.
func (s *cellStream) takeBytes(n int) []byte {
	s.raw = s.raw[:0]
	for s.err == nil && len(s.raw) < n {
		from := len(s.raw)
		s.raw = slices.Grow(s.raw, min(n-from, 64<<10))[:min(n, from+64<<10)]
		if _, err := io.ReadFull(s.in, s.raw[from:]); err != nil {
			s.fail(err)
		}
	}
	if s.err != nil {
		return nil
	}
	return s.raw
}

// takeText returns a text, valid until the next call: its first maxField bytes.
func (s *cellStream) takeText() []byte {
	n := s.takeLength()
	text := s.takeBytes(min(n, maxField))
	if s.err == nil && n > maxField {
		if _, err := io.CopyN(io.Discard, s.in, int64(n-maxField)); err != nil {
			s.fail(err)
		}
	}
	return text
}

func (s *cellStream) takeByte() byte {
	b, err := s.in.ReadByte()
	if err != nil {
		s.fail(err)
	}
	return b
}

func (s *cellStream) takeLength() int {
	var b [4]byte
	if _, err := io.ReadFull(s.in, b[:]); err != nil {
		s.fail(err)
	}
	if s.err != nil {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b[:]))
}

func (s *cellStream) takeInteger() int64 {
	var b [8]byte
	if _, err := io.ReadFull(s.in, b[:]); err != nil {
		s.fail(err)
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// CellReader reads streams of columns into tables, one after another.
type CellReader struct {
	r  *reader
	in *bufio.Reader
}

// NewCellReader returns a reader of rows without labels or, if labels is true, of labels alone.
func NewCellReader(ctx context.Context, s *schema.Schema, labels bool) (*CellReader, error) {
	opts := Options{Labels: LabelsIgnored, Count: true, Stdin: strings.NewReader("")}
	if labels {
		opts.Labels, opts.Count = LabelsRequired, false
		s = &schema.Schema{Name: s.Name, Label: s.Label, Dialect: s.Dialect, Relation: dp.AddRemove}
		s.Label.Position = 0
	}
	r, err := newReader(ctx, s, opts, []string{Cells})
	if err != nil {
		return nil, err
	}
	for _, c := range r.cols {
		if c != nil {
			c.unsorted = true
		}
	}
	return &CellReader{r, bufio.NewReaderSize(nil, 64<<10)}, nil
}

// Read reads one stream to its end.
func (c *CellReader) Read(in io.Reader) (*Table, error) {
	c.in.Reset(in)
	c.r.opts.Stdin, c.r.rows = c.in, 0
	err := c.r.readCells()
	t := c.r.makeTable() // also of rows before a fault, which are dropped
	if err != nil {
		return nil, err
	}
	return t, nil
}
