// SPDX-License-Identifier: Apache-2.0

// Package blocks stores coded rows in blocks, in a file or any other byte storage, and answers
// questions about them block by block. Only the columns that a question needs are read into memory,
// for as many blocks at a time as there are processors.
package blocks

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A block consists of magic, the length of its header in 4 bytes, the header in JSON, and the sections
// that the header lists, which are little-endian. Every section has a checksum, so that blocks with
// the same header hold the same rows.
const magic = "DSCBLK01"

const maxHeader = 16 << 20

type header struct {
	Schema  string       `json:"schema"` // SHA-256 of the schema's file
	Rows    int          `json:"rows"`
	Columns []columnPart `json:"columns"` // by column of the schema
	Labels  section      `json:"labels"`
	Persons *section     `json:"persons,omitempty"` // the persons of the rows, if the schema declares persons
}

type columnPart struct {
	Width  int     `json:"width,omitempty"` // bytes per code; 0 if the column is not read
	Codes  section `json:"codes"`
	Number bool    `json:"number,omitempty"`
	Values section `json:"values"`
}

// section is a range of bytes after the header.
type section struct {
	At  int64  `json:"at"`
	Len int64  `json:"len"`
	CRC uint32 `json:"crc"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ID identifies the rows of a block: two blocks have the same ID only if they hold the same codes.
type ID [16]byte

// schemaID identifies a schema in blocks.
func schemaID(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// Encode writes a labelled table as a block. text is the schema's file.
func Encode(t *dataset.Table, text []byte) ([]byte, error) {
	head, body, err := encodeParts(t, text, nil)
	return append(head, body...), err
}

// encodeParts is Encode in two parts: the part before the sections, and the sections, for which it
// uses the memory of body.
func encodeParts(t *dataset.Table, text, body []byte) (head, sections []byte, err error) {
	if t.Labels == nil {
		return nil, nil, errors.New("blocks: the table was read without labels")
	}
	if t.Schema.Person != nil && len(t.Persons) != t.Rows {
		return nil, nil, fmt.Errorf("blocks: the table was read without column %q, which identifies persons",
			t.Schema.Person.Column)
	}
	size := len(t.Labels) + 4*len(t.Persons)
	for j := range t.Cols {
		size += widthOf(&t.Cols[j].Codes)*t.Cols[j].Codes.Len() + 8*len(t.Cols[j].Values)
	}
	body = slices.Grow(body[:0], size)
	h := header{Schema: schemaID(text), Rows: t.Rows, Columns: make([]columnPart, len(t.Cols))}
	add := func(grow func([]byte) []byte) section {
		at := len(body)
		body = grow(body)
		return section{int64(at), int64(len(body) - at), crc32.Checksum(body[at:], castagnoli)}
	}
	for j := range t.Cols {
		if t.Schema.Columns[j].Role == schema.Ignored {
			continue
		}
		c, part := &t.Cols[j], &h.Columns[j]
		part.Width = widthOf(&c.Codes)
		part.Codes = add(func(b []byte) []byte { return appendCodes(b, &c.Codes) })
		if t.Schema.Columns[j].Kind != schema.Category {
			part.Number = true
			part.Values = add(func(b []byte) []byte {
				for code := range c.Values {
					b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.MarkedValue(uint32(code))))
				}
				return b
			})
		}
	}
	h.Labels = add(func(b []byte) []byte { return append(b, t.Labels...) })
	if t.Schema.Person != nil {
		persons := add(func(b []byte) []byte { return appendCodes(b, &column.Codes{U32: t.Persons}) })
		h.Persons = &persons
	}
	list, err := json.Marshal(h)
	if err != nil {
		return nil, nil, err
	}
	head = binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(list)))
	return append(head, list...), body, nil
}

func widthOf(c *column.Codes) int {
	switch {
	case c.U32 != nil:
		return 4
	case c.U16 != nil:
		return 2
	}
	return 1
}

func appendCodes(b []byte, c *column.Codes) []byte {
	at := len(b)
	b = slices.Grow(b, widthOf(c)*c.Len())[:at+widthOf(c)*c.Len()]
	into := b[at:]
	switch {
	case c.U32 != nil:
		for i, x := range c.U32 {
			binary.LittleEndian.PutUint32(into[4*i:], x)
		}
	case c.U16 != nil:
		for i, x := range c.U16 {
			binary.LittleEndian.PutUint16(into[2*i:], x)
		}
	default:
		copy(into, c.U8)
	}
	return b
}

var errBlock = errors.New("blocks: damaged block")

// parsed is a block whose header has been read and whose sections have not.
type parsed struct {
	header
	id   ID
	body int64 // offset of the sections
}

// parseHeader reads the header of a block of size bytes that begins with head, for a table of schema
// s, whose file has the given id.
func parseHeader(head []byte, size int64, s *schema.Schema, id string) (*parsed, error) {
	if len(head) < len(magic)+4 || string(head[:len(magic)]) != magic {
		return nil, errBlock
	}
	n := int64(binary.LittleEndian.Uint32(head[len(magic):]))
	body := int64(len(magic)) + 4 + n
	if n > maxHeader || body > int64(len(head)) {
		return nil, errBlock
	}
	p := &parsed{body: body}
	text := head[len(magic)+4 : body]
	if err := json.Unmarshal(text, &p.header); err != nil {
		return nil, errBlock
	}
	if p.Schema != id {
		return nil, errors.New("blocks: the block was made with another schema")
	}
	sum := sha256.Sum256(text)
	copy(p.id[:], sum[:])
	if p.Rows < 0 || p.Rows > math.MaxInt32 || len(p.Columns) != len(s.Columns) || !p.Labels.fits(size-body, p.Rows) {
		return nil, errBlock
	}
	if (p.Persons != nil) != (s.Person != nil) || p.Persons != nil && !p.Persons.fits(size-body, 4*p.Rows) {
		return nil, errBlock
	}
	for j := range p.Columns {
		c, of := &p.Columns[j], &s.Columns[j]
		if of.Role == schema.Ignored {
			if c.Width != 0 {
				return nil, errBlock
			}
			continue
		}
		if c.Width != 1 && c.Width != 2 && c.Width != 4 || !c.Codes.fits(size-body, c.Width*p.Rows) ||
			c.Number != (of.Kind != schema.Category) ||
			c.Number && (c.Values.Len < 0 || c.Values.Len%8 != 0 || !c.Values.fits(size-body, int(c.Values.Len))) {
			return nil, errBlock
		}
	}
	return p, nil
}

func (s *section) fits(size int64, want int) bool {
	return s.Len == int64(want) && s.At >= 0 && s.At <= size-s.Len
}

// reading returns the bytes of a section, possibly in the memory of into.
type reading func(s section, into []byte) ([]byte, error)

// checked returns the bytes of a section after verifying its checksum.
func (read reading) checked(s section, into []byte) ([]byte, error) {
	b, err := read(s, into)
	if err == nil && crc32.Checksum(b, castagnoli) != s.CRC {
		err = errBlock
	}
	return b, err
}

// room is memory for the codes of a block, which is reused for the next one.
type room struct {
	wide []byte         // multi-byte codes, as in a file
	cols []column.Codes // by column of the schema
}

// loadPersons reads the persons of the rows.
func (p *parsed) loadPersons(read reading) ([]uint32, error) {
	b, err := read.checked(*p.Persons, nil)
	return readCodes(b, 4, column.Codes{}).U32, err
}

// load reads the given columns with read, and the labels if they are nil. Codes may use the memory of
// r.
func (p *parsed) load(t *dataset.Table, cols []int, read reading, r *room) error {
	if len(r.cols) < len(p.Columns) {
		r.cols = make([]column.Codes, len(p.Columns))
	}
	for _, j := range cols {
		c := &p.Columns[j]
		if c.Width == 0 || t.Cols[j].Codes.Len() > 0 {
			continue
		}
		codes, err := p.loadCodes(c, read, r, &r.cols[j])
		if err != nil {
			return err
		}
		col := column.Column{Codes: codes}
		if c.Number {
			b, err := read.checked(c.Values, nil)
			if err != nil {
				return err
			}
			col.Values = make([]float64, len(b)/8)
			for i := range col.Values {
				col.Values[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			}
			if of := &t.Schema.Columns[j]; of.Marks() > 0 {
				col.TakeMarks(of.Clamp(*of.Default))
			}
		}
		t.Cols[j] = col
	}
	if t.Labels == nil {
		b, err := read.checked(p.Labels, nil)
		if err != nil {
			return err
		}
		if b == nil {
			b = []byte{}
		}
		t.Labels = b
	}
	return nil
}

// loadCodes reads the codes of a column and leaves their memory in spare.
func (p *parsed) loadCodes(c *columnPart, read reading, r *room, spare *column.Codes) (column.Codes, error) {
	into := r.wide
	if c.Width == 1 {
		into = spare.U8
	}
	b, err := read.checked(c.Codes, into)
	if err != nil {
		return column.Codes{}, err
	}
	if c.Width > 1 {
		r.wide = b
	}
	*spare = readCodes(b, c.Width, *spare)
	return *spare, nil
}

// readCodes reads codes of a width. Multi-byte codes use the memory of spare.
func readCodes(b []byte, width int, spare column.Codes) (c column.Codes) {
	switch width {
	case 1:
		c.U8 = b
	case 2:
		c.U16 = sized(spare.U16, len(b)/2)
		for i := range c.U16 {
			c.U16[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
	default:
		c.U32 = sized(spare.U32, len(b)/4)
		for i := range c.U32 {
			c.U32[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	}
	return c
}

// sized returns a slice of n values, in the memory of s if it is large enough; it is not nil.
func sized[T any](s []T, n int) []T {
	if s == nil || n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

// Block is a block in memory.
type Block struct {
	*parsed
	s     *schema.Schema
	bytes []byte
}

// Decode reads a block for a table of schema s, whose file is text. It retains b.
func Decode(b []byte, s *schema.Schema, text []byte) (*Block, error) {
	p, err := parseHeader(b, int64(len(b)), s, schemaID(text))
	if err != nil {
		return nil, err
	}
	return &Block{p, s, b}, nil
}

// ID returns the ID of the block's rows.
func (b *Block) ID() ID { return b.id }

// Rows returns the number of rows in the block.
func (b *Block) Rows() int { return b.parsed.Rows }

// Table returns the rows with the given columns only. It refuses codes that the columns cannot hold.
func (b *Block) Table(cols []int) (*dataset.Table, error) {
	t := &dataset.Table{Schema: b.s, Rows: b.Rows(), Cols: make([]column.Column, len(b.Columns))}
	err := b.load(t, cols, func(s section, _ []byte) ([]byte, error) {
		return b.bytes[b.body+s.At:][:s.Len:s.Len], nil
	}, new(room))
	if err != nil {
		return nil, err
	}
	for _, j := range cols {
		codes := b.s.Columns[j].Codes()
		if b.Columns[j].Number {
			codes = len(t.Cols[j].Values)
		}
		if c := &t.Cols[j].Codes; c.Len() > 0 && int(largest(c)) >= codes {
			return nil, errBlock
		}
	}
	for _, l := range t.Labels {
		if int(l) >= b.s.Classes() {
			return nil, errBlock
		}
	}
	return t, nil
}

// Persons returns the persons of the rows, for a schema that declares persons.
func (b *Block) Persons() ([]uint32, error) {
	return b.loadPersons(func(s section, _ []byte) ([]byte, error) { return b.bytes[b.body+s.At:][:s.Len:s.Len], nil })
}

func largest(c *column.Codes) (most uint32) {
	for _, x := range c.U8 {
		most = max(most, uint32(x))
	}
	for _, x := range c.U16 {
		most = max(most, uint32(x))
	}
	for _, x := range c.U32 {
		most = max(most, x)
	}
	return most
}
