// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bufio"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// usualPageHeader is the largest size of a page's header in bytes, unless its statistics contain a
// long cell.
const usualPageHeader = 64 << 10

// Chunk reads the pages of one column of one row group. It allocates memory for one page at a time, as
// its bytes arrive. By the format, a page has less than 2 GiB. A smaller limit would be a limit on the
// content of cells.
type Chunk struct {
	t      Type
	codec  format.CompressionCodec
	src    *bufio.Reader
	bytes  int64 // bytes of the chunk left in the file
	rows   int64 // rows not yet returned
	Dict   *Values
	N      int // length of Dict
	packed []byte
	page   []byte

	// The current page.
	left    int     // rows
	levels  *hybrid // 1 if a value is present; nil: all are present
	indices *hybrid // into Dict; nil: plain values
	plain   *valueReader

	present []uint32
	index   []uint32
}

// Run is some consecutive rows. It has values for the present rows only.
type Run struct {
	N       int
	Present []uint32 // 1 or 0 per row; nil: all present
	Indices []uint32 // into the chunk's dictionary; nil: see Values
	Values  *Values
}

// NewChunk prepares column at of a row group of a file of the given size. section returns n bytes of the
// file, starting at from. NewChunk returns ErrEncoding for an unknown codec.
func NewChunk(section func(from, n int64) io.Reader, size int64, group *format.RowGroup, at int, t Type) (*Chunk, error) {
	if at >= len(group.Columns) {
		return nil, ErrValues
	}
	column := &group.Columns[at]
	meta := &column.MetaData
	start, err := ChunkStart(column, size)
	switch {
	case err != nil, meta.Type != t.physical, meta.NumValues != group.NumRows:
		return nil, ErrValues
	case !canUnpack(meta.Codec):
		return nil, ErrEncoding
	}
	return &Chunk{
		t: t, codec: meta.Codec,
		src: bufio.NewReaderSize(section(start, meta.TotalCompressedSize), usualPageHeader), bytes: meta.TotalCompressedSize, rows: group.NumRows,
	}, nil
}

// ChunkStart returns where in a file of the given size the bytes of a column chunk begin, or ErrValues if
// they are not in it.
func ChunkStart(column *format.ColumnChunk, size int64) (int64, error) {
	start, n := column.MetaData.DataPageOffset, column.MetaData.TotalCompressedSize
	if d := column.MetaData.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	if column.FilePath != "" || start < 0 || n < 0 || n > size || start > size-n {
		return 0, ErrValues
	}
	return start, nil
}

// Type returns the type of the column.
func (c *Chunk) Type() *Type { return &c.t }

// NextRun returns the next run of at most batch rows, valid until the next call,
// and io.EOF after the last one.
func (c *Chunk) NextRun() (r Run, err error) {
	for c.left == 0 {
		if c.rows == 0 {
			return r, io.EOF
		}
		if err := c.nextPage(); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return r, err
		}
	}
	r.N = min(c.left, Batch)
	if c.indices == nil {
		r.N = min(r.N, c.plain.most)
	}
	c.left -= r.N
	c.rows -= int64(r.N)
	cells := r.N
	if c.levels != nil {
		all, err := c.levels.allOne(r.N)
		if err != nil {
			return r, err
		}
		if !all {
			c.present = resizeSlice(c.present, r.N)
			if err := c.levels.read(c.present); err != nil {
				return r, err
			}
			r.Present = c.present
			cells = 0
			for _, p := range r.Present {
				cells += int(p)
			}
		}
	}
	if c.indices != nil {
		c.index = resizeSlice(c.index, cells)
		r.Indices = c.index
		return r, c.indices.read(r.Indices)
	}
	r.Values, err = c.plain.nextValues(cells)
	return r, err
}

func (c *Chunk) nextPage() error {
	head, n, err := c.decodeHeader()
	if err != nil {
		return err
	}
	size, unpacked := int64(head.CompressedPageSize), int64(head.UncompressedPageSize)
	if size < 0 || unpacked < 0 || size > c.bytes-int64(n) {
		return ErrValues
	}
	if _, err := c.src.Discard(n); err != nil {
		return err
	}
	c.bytes -= int64(n) + size
	c.packed = resizeSlice(c.packed, int(size))
	if _, err := io.ReadFull(c.src, c.packed); err != nil {
		return err
	}
	if head.CRC != 0 && crc32.ChecksumIEEE(c.packed) != uint32(head.CRC) {
		return ErrValues
	}
	switch head.Type {
	case format.DictionaryPage:
		return c.readDictionary(&head.DictionaryPageHeader.V, unpacked)
	case format.DataPage:
		return c.pageV1(&head.DataPageHeader.V, unpacked)
	case format.DataPageV2:
		return c.pageV2(&head.DataPageHeaderV2.V, unpacked)
	}
	return nil // an index page: nothing in it is needed
}

// decodeHeader decodes the next page header and returns its length.
func (c *Chunk) decodeHeader() (head *format.PageHeader, n int, err error) {
	if c.bytes <= 0 {
		return nil, 0, io.EOF
	}
	for most := int64(1 << 10); most < 64*c.bytes; most *= 64 { // 1.6
		var data []byte
		if most > usualPageHeader {
			c.src = bufio.NewReaderSize(c.src, int(min(most, c.bytes)))
		}
		data, err = c.src.Peek(int(min(most, c.bytes)))
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		if n, err = ThriftLength(data); err != nil {
			continue
		}
		head = new(format.PageHeader)
		reader := new(thrift.CompactProtocol).NewReaderFromBytes(data[:n])
		return head, n, thrift.NewDecoder(reader).Decode(head)
	}
	return nil, 0, err
}

// unpackPage decompresses a page. The result is valid until the next page.
func (c *Chunk) unpackPage(packed []byte, size int64) ([]byte, error) {
	if c.codec == format.Uncompressed {
		if int64(len(packed)) != size {
			return nil, ErrValues
		}
		return packed, nil
	}
	if size > largePage {
		return unpackLarge(packed, int(size), c.codec)
	}
	c.page = resizeSlice(c.page, int(size))
	if size == 0 {
		return c.page, nil
	}
	return c.page, unpackInto(c.page, packed, c.codec)
}

// plainDictionary is the encoding that old writers use for a dictionary and its pages. The library
// also defines it, but marks it as deprecated.
const plainDictionary format.Encoding = 2

func (c *Chunk) readDictionary(head *format.DictionaryPageHeader, size int64) error {
	if c.Dict != nil || head.NumValues < 0 {
		return ErrValues
	}
	if head.Encoding != format.Plain && head.Encoding != plainDictionary {
		return ErrEncoding
	}
	data, err := c.unpackPage(c.packed, size)
	if err != nil {
		return err
	}
	// The dictionary outlives the page's memory, which the next page reuses.
	c.packed, c.page = nil, nil
	c.N = int(head.NumValues)
	if least := c.t.size(); c.N > 8*len(data) || least > 0 && c.N > len(data)/least { // no value takes less than a bit
		return ErrValues
	}
	reader, err := newValueReader(c.t, format.Plain, data, c.N)
	if err != nil {
		return err
	}
	c.Dict, err = reader.nextValues(c.N)
	return err
}

func (c *Chunk) pageV1(head *format.DataPageHeader, size int64) error {
	data, err := c.unpackPage(c.packed, size)
	if err != nil {
		return err
	}
	c.levels = nil
	if c.t.Optional {
		if head.DefinitionLevelEncoding != format.RLE {
			return ErrEncoding
		}
		if len(data) < 4 {
			return ErrValues
		}
		n := uint64(data[0]) | uint64(data[1])<<8 | uint64(data[2])<<16 | uint64(data[3])<<24
		if n > uint64(len(data)-4) {
			return ErrValues
		}
		if c.levels, err = newHybrid(data[4:4+n], 1); err != nil {
			return err
		}
		data = data[4+n:]
	}
	return c.beginPage(head.NumValues, head.Encoding, data)
}

func (c *Chunk) pageV2(head *format.DataPageHeaderV2, size int64) (err error) {
	repetition, definition := int64(head.RepetitionLevelsByteLength), int64(head.DefinitionLevelsByteLength)
	if repetition < 0 || definition < 0 || repetition+definition > min(size, int64(len(c.packed))) {
		return ErrValues
	}
	levels, data := c.packed[repetition:repetition+definition], c.packed[repetition+definition:]
	c.levels = nil
	if c.t.Optional {
		if c.levels, err = newHybrid(levels, 1); err != nil {
			return err
		}
	}
	if !head.IsCompressed.Valid || head.IsCompressed.V {
		if data, err = c.unpackPage(data, size-repetition-definition); err != nil {
			return err
		}
	}
	return c.beginPage(head.NumValues, head.Encoding, data)
}

// beginPage sets data as the values of the current page.
func (c *Chunk) beginPage(rows int32, encoding format.Encoding, data []byte) (err error) {
	if rows < 0 || int64(rows) > c.rows {
		return ErrValues
	}
	c.left = int(rows)
	c.indices, c.plain = nil, nil
	if encoding != format.RLEDictionary && encoding != plainDictionary {
		c.plain, err = newValueReader(c.t, encoding, data, int(rows))
		return err
	}
	if c.Dict == nil {
		return ErrValues
	}
	if len(data) == 0 {
		c.indices, err = newHybrid(nil, 0)
		return err
	}
	c.indices, err = newHybrid(data[1:], uint(data[0]))
	return err
}
