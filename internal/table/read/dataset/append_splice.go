// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/table/read/pages"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// splice writes a Parquet file of column chunks that other Parquet files have, byte for byte.
type splice struct {
	w    *bufio.Writer
	at   int64 // bytes written
	meta format.FileMetaData
}

// spliceRows writes the files with columns added, if all are Parquet with the same columns: every other
// column keeps its type and its bytes. Otherwise it writes nothing, and done is false. reach is as in
// CopyRows.
func (r *reader) spliceRows(w io.Writer, added []Added, reach func(row int) bool) (done bool, err error) {
	var files []*parquetFile
	var columns [][]format.SchemaElement
	var leaves []int
	var names []string
	for _, path := range r.paths {
		if FormatOf(path) != Parquet {
			return false, nil
		}
		pf, f, err := openParquet(r.ctx, path)
		if err != nil {
			return true, err
		}
		defer f.Close()
		if _, err := r.layOut(pf); err != nil {
			return true, err
		}
		names = r.namesToWrite(pf.names)
		its, places := pf.findColumns(names)
		if len(files) > 0 && !(reflect.DeepEqual(its, columns) && slices.Equal(places, leaves)) {
			return false, nil
		}
		files, columns, leaves = append(files, pf), its, places
	}
	added = r.nameAdded(names, added)
	end, err := packAdded(r.s, added, 0, 0, nil)
	if err != nil {
		return true, err
	}
	s := &splice{w: bufio.NewWriterSize(w, 256<<10), meta: format.FileMetaData{Version: 1, CreatedBy: "discreet"}}
	root := end.meta.Schema[0]
	root.NumChildren = thrift.New(int32(len(columns) + len(added)))
	s.meta.Schema = slices.Concat([]format.SchemaElement{root}, slices.Concat(columns...), end.meta.Schema[1:])
	for range len(leaves) + len(added) {
		s.meta.ColumnOrders = append(s.meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	s.writeBytes([]byte(parquetMagic))
	row := 0
	for _, pf := range files {
		for g := range pf.groups {
			if err := r.ctx.Err(); err != nil {
				return true, err
			}
			group := &pf.groups[g]
			if group.NumRows == 0 {
				continue
			}
			part, err := packAdded(r.s, added, row, int(group.NumRows), reach)
			if err == nil {
				err = s.writeGroup(pf, group, leaves, part)
			}
			if err != nil {
				return true, err
			}
			row += int(group.NumRows)
		}
	}
	return true, s.close()
}

// findColumns returns the schema's elements of each column that has one of the names, and the positions
// of their leaves among all.
func (pf *parquetFile) findColumns(names []string) (columns [][]format.SchemaElement, leaves []int) {
	for i := range pf.columns {
		if c := &pf.columns[i]; slices.Contains(names, c.Name) {
			columns = append(columns, c.Elements)
			for k := range c.Leaves {
				leaves = append(leaves, c.Leaf+k)
			}
		}
	}
	return columns, leaves
}

// packAdded returns rows of the added columns, from the given one on, as a file with one row group.
func packAdded(s *schema.Schema, added []Added, row, rows int, reach func(row int) bool) (*parquetFile, error) {
	var b bytes.Buffer
	out, cells := newParquetSink(&b, s, nil, added, maxGroup), make([]cell, len(added))
	for end := row + rows; row < end; row++ {
		if reach != nil && !reach(row) {
			return nil, errUnreached
		}
		addCells(cells, added, row)
		if err := out.writeRow(nil, cells); err != nil {
			return nil, err
		}
	}
	if err := out.close(); err != nil {
		return nil, err
	}
	return newParquetFile(memoryFile, bytes.NewReader(b.Bytes()), int64(b.Len()))
}

var errUnreached = errors.New("dataset: a row is missing")

// writeGroup writes a row group: the chunks of a group of pf, and all of the only group of part.
func (s *splice) writeGroup(pf *parquetFile, group *format.RowGroup, leaves []int, part *parquetFile) (err error) {
	defer recoverDamage(pf.path, &err)
	out := format.RowGroup{NumRows: group.NumRows, FileOffset: s.at, Ordinal: int16(len(s.meta.RowGroups))}
	for _, leaf := range leaves {
		if err := s.writeChunk(&out, pf, &group.Columns[leaf]); err != nil {
			return err
		}
	}
	for i := range part.groups[0].Columns {
		if err := s.writeChunk(&out, part, &part.groups[0].Columns[i]); err != nil {
			return err
		}
	}
	s.meta.RowGroups = append(s.meta.RowGroups, out)
	s.meta.NumRows += out.NumRows
	return nil
}

func (s *splice) writeChunk(out *format.RowGroup, pf *parquetFile, chunk *format.ColumnChunk) error {
	start, err := pages.ChunkStart(chunk, pf.size)
	if err != nil {
		return damagedFile(pf.path)
	}
	meta, moved := chunk.MetaData, s.at-start
	n, err := io.Copy(s.w, pf.section(start, meta.TotalCompressedSize))
	if err != nil {
		return err
	}
	if n != meta.TotalCompressedSize {
		return damagedFile(pf.path)
	}
	s.at += n
	meta.DataPageOffset += moved
	if meta.DictionaryPageOffset > 0 {
		meta.DictionaryPageOffset += moved
	}
	meta.IndexPageOffset, meta.BloomFilterOffset, meta.BloomFilterLength = 0, 0, 0
	if len(pf.meta.ColumnOrders) == 0 { // which its statistics have no meaning without
		meta.Statistics = format.Statistics{}
	}
	out.Columns = append(out.Columns, format.ColumnChunk{FileOffset: start + moved, MetaData: meta})
	out.TotalByteSize += meta.TotalUncompressedSize
	out.TotalCompressedSize += meta.TotalCompressedSize
	return nil
}

func (s *splice) writeBytes(b []byte) {
	n, _ := s.w.Write(b) // a bufio.Writer keeps its first error for Flush
	s.at += int64(n)
}

// close writes the file's metadata.
func (s *splice) close() error {
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &s.meta)
	if err != nil {
		return err
	}
	s.writeBytes(footer)
	s.writeBytes(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	s.writeBytes([]byte(parquetMagic))
	return s.w.Flush()
}
