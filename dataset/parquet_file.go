// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"encoding/binary"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxFooter = 16 << 20 // bytes of a Parquet file's metadata
	// A file may claim freeRows rows, and rowsPerByte more per byte of its
	// size: runs of one value take next to no room, but a table of them only
	// would be a bomb.
	freeRows    = 1 << 20
	rowsPerByte = 1 << 10
)

// parquetFile is an open Parquet file of flat columns. Its metadata come from
// the Parquet library; its pages are read by chunk.
type parquetFile struct {
	path   string
	file   *os.File
	size   int64
	names  []string
	leaves []*parquet.Column // parallel to names; nil: not a flat column
	groups []format.RowGroup
	rows   int64
}

func openParquet(path string) (pf *parquetFile, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	pf = &parquetFile{path: path, file: f, size: info.Size()}
	defer recoverDamage(path, &err)
	if err := pf.checkFooter(); err != nil {
		return nil, err
	}
	lib, err := parquet.OpenFile(f, pf.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, damaged(path)
	}
	pf.groups = lib.Metadata().RowGroups
	for _, column := range lib.Root().Columns() {
		pf.names = append(pf.names, column.Name())
		if !column.Leaf() || column.Repeated() {
			column = nil
		}
		pf.leaves = append(pf.leaves, column)
	}
	return pf, pf.checkRows()
}

// checkFooter walks the metadata before the library decodes them.
func (pf *parquetFile) checkFooter() error {
	const tail = 8 // the metadata's length and the magic word
	if pf.size < 4+tail {
		return damaged(pf.path)
	}
	var end [tail]byte
	if _, err := pf.file.ReadAt(end[:], pf.size-tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	switch {
	case string(end[4:]) != "PAR1" || n > pf.size-4-tail:
		return damaged(pf.path)
	case n > maxFooter:
		return &FaultError{File: pf.path, Fault: "must not have more than 16 MiB of metadata"}
	}
	footer := make([]byte, n)
	if _, err := pf.file.ReadAt(footer, pf.size-tail-n); err != nil {
		return err
	}
	if _, err := thriftLength(footer); err != nil {
		return damaged(pf.path)
	}
	return nil
}

func (pf *parquetFile) checkRows() error {
	for i := range pf.groups {
		n := pf.groups[i].NumRows
		if n < 0 || n > freeRows+rowsPerByte*pf.size-pf.rows {
			return &FaultError{File: pf.path, Fault: "must not claim more rows than a file of its size can hold"}
		}
		pf.rows += n
	}
	return nil
}

func damaged(path string) *FaultError {
	return &FaultError{File: path, Fault: "must be undamaged Parquet, not encrypted"}
}

// recoverDamage turns a panic of a decoder into a fault: what it would say
// may hold cells.
func recoverDamage(path string, err *error) {
	if recover() != nil {
		*err = damaged(path)
	}
}
