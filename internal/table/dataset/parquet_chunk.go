// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"context"
	"errors"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/table/object"
)

// usualPageHeader is the largest size of a page's header in bytes, unless its statistics contain a
// long cell.
const usualPageHeader = 64 << 10

// chunk reads the pages of one column of one row group. It allocates memory for one page at a time, as
// its bytes arrive. By the format, a page has less than 2 GiB. A smaller limit would be a limit on the
// content of cells.
type chunk struct {
	file   *parquetFile
	t      cellType
	codec  format.CompressionCodec
	src    *bufio.Reader
	bytes  int64 // bytes of the chunk left in the file
	rows   int64 // rows not yet returned
	dict   *values
	n      int // length of dict
	packed []byte
	page   []byte

	// The current page.
	left    int     // rows
	levels  *hybrid // 1 if a value is present; nil: all are present
	indices *hybrid // into dict; nil: plain values
	plain   *valueReader

	present []uint32
	index   []uint32
}

// run is some consecutive rows. It has values for the present rows only.
type run struct {
	n       int
	present []uint32 // 1 or 0 per row; nil: all present
	indices []uint32 // into the chunk's dictionary; nil: see values
	values  *values
}

// newChunk prepares column at of row group g. It returns errEncoding for an unknown codec.
func newChunk(pf *parquetFile, g, at int, t cellType) (*chunk, error) {
	group := &pf.groups[g]
	if at >= len(group.Columns) {
		return nil, errValues
	}
	column := &group.Columns[at]
	meta := &column.MetaData
	start := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	switch {
	case column.FilePath != "", meta.Type != t.physical, meta.NumValues != group.NumRows:
		return nil, errValues
	case start < 0, meta.TotalCompressedSize < 0, meta.TotalCompressedSize > pf.size,
		start > pf.size-meta.TotalCompressedSize:
		return nil, errValues
	case !canUnpack(meta.Codec):
		return nil, errEncoding
	}
	section := pf.section(start, meta.TotalCompressedSize)
	return &chunk{
		file: pf, t: t, codec: meta.Codec,
		src: bufio.NewReaderSize(section, usualPageHeader), bytes: meta.TotalCompressedSize, rows: group.NumRows,
	}, nil
}

// nextRun returns the next run of at most batch rows, valid until the next call,
// and io.EOF after the last one.
func (c *chunk) nextRun() (r run, err error) {
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
	r.n = min(c.left, batch)
	if c.indices == nil {
		r.n = min(r.n, c.plain.most)
	}
	c.left -= r.n
	c.rows -= int64(r.n)
	cells := r.n
	if c.levels != nil {
		all, err := c.levels.allOne(r.n)
		if err != nil {
			return r, err
		}
		if !all {
			c.present = resizeSlice(c.present, r.n)
			if err := c.levels.read(c.present); err != nil {
				return r, err
			}
			r.present = c.present
			cells = 0
			for _, p := range r.present {
				cells += int(p)
			}
		}
	}
	if c.indices != nil {
		c.index = resizeSlice(c.index, cells)
		r.indices = c.index
		return r, c.indices.read(r.indices)
	}
	r.values, err = c.plain.nextValues(cells)
	return r, err
}

func (c *chunk) nextPage() error {
	head, n, err := c.decodeHeader()
	if err != nil {
		return err
	}
	size, unpacked := int64(head.CompressedPageSize), int64(head.UncompressedPageSize)
	if size < 0 || unpacked < 0 || size > c.bytes-int64(n) {
		return errValues
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
		return errValues
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
func (c *chunk) decodeHeader() (head *format.PageHeader, n int, err error) {
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
		if n, err = thriftLength(data); err != nil {
			continue
		}
		head = new(format.PageHeader)
		reader := new(thrift.CompactProtocol).NewReaderFromBytes(data[:n])
		return head, n, thrift.NewDecoder(reader).Decode(head)
	}
	return nil, 0, err
}

// unpackPage decompresses a page. The result is valid until the next page.
func (c *chunk) unpackPage(packed []byte, size int64) ([]byte, error) {
	if c.codec == format.Uncompressed {
		if int64(len(packed)) != size {
			return nil, errValues
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

func (c *chunk) readDictionary(head *format.DictionaryPageHeader, size int64) error {
	if c.dict != nil || head.NumValues < 0 {
		return errValues
	}
	if head.Encoding != format.Plain && head.Encoding != plainDictionary {
		return errEncoding
	}
	data, err := c.unpackPage(c.packed, size)
	if err != nil {
		return err
	}
	// The dictionary outlives the page's memory, which the next page reuses.
	c.packed, c.page = nil, nil
	c.n = int(head.NumValues)
	if c.n > 8*len(data) { // no type takes less than a bit
		return errValues
	}
	reader, err := newValueReader(c.t, format.Plain, data, c.n)
	if err != nil {
		return err
	}
	c.dict, err = reader.nextValues(c.n)
	return err
}

func (c *chunk) pageV1(head *format.DataPageHeader, size int64) error {
	data, err := c.unpackPage(c.packed, size)
	if err != nil {
		return err
	}
	c.levels = nil
	if c.t.optional {
		if head.DefinitionLevelEncoding != format.RLE {
			return errEncoding
		}
		if len(data) < 4 {
			return errValues
		}
		n := uint64(data[0]) | uint64(data[1])<<8 | uint64(data[2])<<16 | uint64(data[3])<<24
		if n > uint64(len(data)-4) {
			return errValues
		}
		if c.levels, err = newHybrid(data[4:4+n], 1); err != nil {
			return err
		}
		data = data[4+n:]
	}
	return c.beginPage(head.NumValues, head.Encoding, data)
}

func (c *chunk) pageV2(head *format.DataPageHeaderV2, size int64) (err error) {
	repetition, definition := int64(head.RepetitionLevelsByteLength), int64(head.DefinitionLevelsByteLength)
	if repetition < 0 || definition < 0 || repetition+definition > min(size, int64(len(c.packed))) {
		return errValues
	}
	levels, data := c.packed[repetition:repetition+definition], c.packed[repetition+definition:]
	c.levels = nil
	if c.t.optional {
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
func (c *chunk) beginPage(rows int32, encoding format.Encoding, data []byte) (err error) {
	if rows < 0 || int64(rows) > c.rows {
		return errValues
	}
	c.left = int(rows)
	c.indices, c.plain = nil, nil
	if encoding != format.RLEDictionary && encoding != plainDictionary {
		c.plain, err = newValueReader(c.t, encoding, data, int(rows))
		return err
	}
	if c.dict == nil {
		return errValues
	}
	if len(data) == 0 {
		c.indices, err = newHybrid(nil, 0)
		return err
	}
	c.indices, err = newHybrid(data[1:], uint(data[0]))
	return err
}

// chunkFault converts an error of a chunk to a fault.
func chunkFault(path, column string, err error) error {
	if unread := (*object.Error)(nil); errors.As(err, &unread) || errors.Is(err, context.Canceled) {
		return err // of a store, not of the file
	}
	fault := damagedFile(path)
	switch {
	case errors.Is(err, errEncoding):
		fault.Fault = "must have encodings and a codec that the Parquet format still has"
	}
	fault.Column = column
	return fault
}
