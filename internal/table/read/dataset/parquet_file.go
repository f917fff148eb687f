// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-dp/discreet/internal/table/read/object"
	"github.com/discreet-dp/discreet/internal/table/read/pages"
)

// maxGroup bounds the rows of a row group: runs of one value take almost no space, so that a few bytes
// could stand for any number of rows. Unlike a bound by the file's size, it does not depend on the
// content of cells.
const maxGroup = 1 << 26

// parquetMagic begins and ends a Parquet file.
const parquetMagic = "PAR1"

// parquetFile is an open Parquet file of flat columns. Its metadata come from
// the Parquet library; its pages are read by package pages.
type parquetFile struct {
	path   string
	file   io.ReaderAt
	size   int64
	names  []string
	leaves []*parquet.Column // parallel to names; nil: the column is not flat
	meta   *format.FileMetaData
	groups []format.RowGroup // of meta
	rows   int64
}

func newParquetFile(path string, file io.ReaderAt, size int64) (pf *parquetFile, err error) {
	pf = &parquetFile{path: path, file: file, size: size}
	defer recoverDamage(path, &err)
	if err := pf.checkFooter(); err != nil {
		return nil, err
	}
	lib, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if unread := (*object.Error)(nil); errors.As(err, &unread) {
		return nil, unread
	}
	if err != nil {
		return nil, damagedFile(path)
	}
	pf.meta = lib.Metadata()
	pf.groups = pf.meta.RowGroups
	for _, column := range lib.Root().Columns() {
		pf.names = append(pf.names, column.Name())
		if !column.Leaf() || column.Repeated() {
			column = nil
		}
		pf.leaves = append(pf.leaves, column)
	}
	return pf, pf.checkRows()
}

// checkFooter checks the metadata before the library decodes them.
func (pf *parquetFile) checkFooter() error {
	const tail = 8 // the metadata's length and the magic word
	if pf.size < 4+tail {
		return damagedFile(pf.path)
	}
	var end [tail]byte
	if _, err := pf.file.ReadAt(end[:], pf.size-tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if string(end[4:]) != parquetMagic || n > pf.size-4-tail {
		return damagedFile(pf.path)
	}
	footer := make([]byte, n)
	if _, err := pf.file.ReadAt(footer, pf.size-tail-n); err != nil {
		return err
	}
	if _, err := pages.ThriftLength(footer); err != nil {
		return damagedFile(pf.path)
	}
	return nil
}

func (pf *parquetFile) checkRows() error {
	for i := range pf.groups {
		n := pf.groups[i].NumRows
		if n < 0 || n > maxGroup {
			return &FaultError{File: pf.path, Fault: "must not have a row group of more than 2^26 rows"}
		}
		pf.rows += n
	}
	return nil
}

func damagedFile(path string) *FaultError {
	return &FaultError{File: path, Fault: "must be undamaged Parquet, not encrypted"}
}

// recoverDamage turns a panic of a decoder into a fault, because the panic's text may contain cells.
func recoverDamage(path string, err *error) {
	if recover() != nil {
		*err = damagedFile(path)
	}
}

// chunkFault converts an error of a chunk to a fault.
func chunkFault(path, column string, err error) error {
	if unread := (*object.Error)(nil); errors.As(err, &unread) || errors.Is(err, context.Canceled) {
		return err // of a store, not of the file
	}
	fault := damagedFile(path)
	switch {
	case errors.Is(err, pages.ErrEncoding):
		fault.Fault = "must have encodings and a codec that the Parquet format still has"
	}
	fault.Column = column
	return fault
}
