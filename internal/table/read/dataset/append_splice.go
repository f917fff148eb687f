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

	"github.com/parquet-go/parquet-go"
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
// column keeps its type and its bytes. Without added columns it keeps the types and the values of rows.
// Otherwise it writes nothing, and done is false. keep is as in CopyRows.
func (r *reader) spliceRows(w io.Writer, added []Added, keep func(row int) bool) (done bool, err error) {
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
		switch {
		case len(files) == 0 || reflect.DeepEqual(its, columns) && slices.Equal(places, leaves):
		case len(added) == 0:
			return true, &FaultError{File: path, Fault: "must have the columns of the file before it, with the same types and in the " +
				"same order"}
		default:
			return false, nil
		}
		files, columns, leaves = append(files, pf), its, places
	}
	added = r.nameAdded(names, added)
	s := &splice{w: bufio.NewWriterSize(w, 256<<10), meta: format.FileMetaData{Version: 1, CreatedBy: "discreet"}}
	end := files[0].meta.Schema[:1]
	if len(added) == 0 {
		s.meta.KeyValueMetadata = files[0].meta.KeyValueMetadata // what other programs say of these columns
	} else if of, err := packAdded(r.s, added, 0, 0, nil); err == nil {
		end = of.meta.Schema
	} else {
		return true, err
	}
	root := end[0]
	root.NumChildren = thrift.New(int32(len(columns) + len(added)))
	s.meta.Schema = slices.Concat([]format.SchemaElement{root}, slices.Concat(columns...), end[1:])
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
			var part *parquetFile
			if len(added) > 0 {
				if part, err = packAdded(r.s, added, row, int(group.NumRows), keep); err == nil {
					err = s.writeGroup(pf, group, leaves, part)
				}
			} else if part, err = pf.keepRows(g, row, keep); err == nil && part.rows > 0 {
				err = s.writeGroup(part, &part.groups[0], leaves, nil)
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
func packAdded(s *schema.Schema, added []Added, row, rows int, keep func(row int) bool) (*parquetFile, error) {
	var b bytes.Buffer
	out, cells := newParquetSink(&b, s, nil, added, maxGroup), make([]cell, len(added))
	for end := row + rows; row < end; row++ {
		if keep != nil && !keep(row) {
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

// keepRows returns the rows of a row group that are kept as a file, whose only group has the same columns with
// the same values. row is the group's first.
func (pf *parquetFile) keepRows(group, row int, keep func(row int) bool) (_ *parquetFile, err error) {
	defer recoverDamage(pf.path, &err)
	lib, err := parquet.OpenFile(pf.file, pf.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, chunkFault(pf.path, "", err)
	}
	var b bytes.Buffer
	out := parquet.NewGenericWriter[any](&b, parquet.NewSchema("table", storedNode(lib.Root(), slices.DeleteFunc(
		slices.Clone(pf.meta.Schema), func(e format.SchemaElement) bool { return e.NumChildren.V > 0 }))),
		parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(maxGroup))
	rows := lib.RowGroups()[group].Rows()
	defer rows.Close()
	for buffer := make([]parquet.Row, sinkBatch); err == nil; {
		var n int
		n, err = rows.ReadRows(buffer)
		kept := buffer[:0:n]
		for _, r := range buffer[:n] {
			if keep == nil || keep(row) {
				kept = append(kept, r)
			}
			row++
		}
		if _, err := out.WriteRows(kept); err != nil {
			return nil, err
		}
	}
	if err == io.EOF {
		err = out.Close()
	}
	if err != nil {
		return nil, chunkFault(pf.path, "", err)
	}
	part, err := newParquetFile(pf.path, bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return nil, err
	}
	for i := range part.groups {
		for j := range part.groups[i].Columns {
			part.groups[i].Columns[j].MetaData.Statistics = format.Statistics{} // whose order the type decides
		}
	}
	return part, nil
}

// storedNode returns a column as it is stored, whatever it stands for; leaves are the elements of all leaves.
func storedNode(c *parquet.Column, leaves []format.SchemaElement) (n parquet.Node) {
	if c.Leaf() {
		e := &leaves[c.Index()]
		of := []parquet.Type{parquet.BooleanType, parquet.Int32Type, parquet.Int64Type, parquet.Int96Type, parquet.FloatType,
			parquet.DoubleType, parquet.ByteArrayType, parquet.FixedLenByteArrayType(int(e.TypeLength.V))}[e.Type.V]
		n = parquet.Encoded(parquet.Leaf(of), &parquet.Plain)
		if e.Type.V != format.Boolean && c.Encoding().Encoding() == format.RLEDictionary {
			n = parquet.Encoded(n, &parquet.RLEDictionary)
		}
	} else {
		group := ordered{Group: parquet.Group{}}
		for _, child := range c.Columns() {
			group.Group[child.Name()] = storedNode(child, leaves)
			group.names = append(group.names, child.Name())
		}
		n = group
	}
	switch {
	case c.Optional():
		return parquet.Optional(n)
	case c.Repeated():
		return parquet.Repeated(n)
	}
	return n
}

var errUnreached = errors.New("dataset: a row is missing")

// writeGroup writes a row group: chunks of a group of pf, and all of the only group of part, if there is one.
func (s *splice) writeGroup(pf *parquetFile, group *format.RowGroup, leaves []int, part *parquetFile) (err error) {
	defer recoverDamage(pf.path, &err)
	out := format.RowGroup{NumRows: group.NumRows, FileOffset: s.at, Ordinal: int16(len(s.meta.RowGroups))}
	for _, leaf := range leaves {
		if err := s.writeChunk(&out, pf, &group.Columns[leaf]); err != nil {
			return err
		}
	}
	for i := 0; part != nil && i < len(part.groups[0].Columns); i++ {
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
