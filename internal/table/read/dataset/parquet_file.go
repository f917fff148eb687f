// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
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

// parquetFile is an open Parquet file.
type parquetFile struct {
	path    string
	file    io.ReaderAt
	size    int64
	columns []pages.Column
	names   []string // of columns
	meta    *format.FileMetaData
	groups  []format.RowGroup // of meta
	rows    int64
}

func newParquetFile(path string, file io.ReaderAt, size int64) (pf *parquetFile, err error) {
	pf = &parquetFile{path: path, file: file, size: size}
	defer recoverDamage(path, &err)
	if pf.meta, err = pf.readFooter(); err != nil {
		return nil, err
	}
	if pf.columns, err = pages.Columns(pf.meta.Schema); err != nil || pf.meta.EncryptionAlgorithm.Value != nil {
		return nil, damagedFile(path)
	}
	pf.groups = pf.meta.RowGroups
	for i := range pf.columns {
		pf.names = append(pf.names, pf.columns[i].Name)
	}
	return pf, pf.checkRows()
}

// readFooter reads the metadata. It checks them before the library decodes them.
func (pf *parquetFile) readFooter() (*format.FileMetaData, error) {
	const tail = 8 // the metadata's length and the magic word
	if pf.size < int64(len(parquetMagic)+tail) {
		return nil, damagedFile(pf.path)
	}
	var start [len(parquetMagic)]byte
	var end [tail]byte
	if _, err := pf.file.ReadAt(end[:], pf.size-tail); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if string(end[4:]) != parquetMagic || n > pf.size-int64(len(parquetMagic)+tail) {
		return nil, damagedFile(pf.path)
	}
	footer := make([]byte, n)
	if _, err := pf.file.ReadAt(footer, pf.size-tail-n); err != nil {
		return nil, err
	}
	if _, err := pf.file.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	if _, err := pages.ThriftLength(footer); err != nil || string(start[:]) != parquetMagic {
		return nil, damagedFile(pf.path)
	}
	meta := new(format.FileMetaData)
	reader := new(thrift.CompactProtocol).NewReaderFromBytes(footer)
	if thrift.NewDecoder(reader).Decode(meta) != nil {
		return nil, damagedFile(pf.path)
	}
	return meta, nil
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
