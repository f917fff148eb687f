// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"io"
	"os"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ReadHeader returns the column names of a file in their order: the first
// record of a CSV file of dialect d, which must have a header, or the names in
// a Parquet file's metadata. It reads no text behind the header's line, so no
// cell can reach the result.
func ReadHeader(path string, d schema.Dialect) ([]string, error) {
	if FormatOf(path) == Parquet {
		pf, f, err := openParquet(path)
		if err != nil {
			return nil, err
		}
		return pf.names, f.Close()
	}
	if !d.Header {
		return nil, &dp.ParamError{Op: "dataset", Param: "header", Want: "must be declared to read column names",
			Hint: "the first record of a file without a header is somebody's data; give the number of columns instead"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := openText(path, &countingReader{ctx: context.Background(), r: byteByByte{f}})
	if err != nil {
		return nil, err
	}
	return readHeader(path, text, d)
}

func readHeader(path string, text io.Reader, d schema.Dialect) ([]string, error) {
	rs, err := newRecords(path, byteByByte{text}, d, 4<<10)
	if err != nil {
		return nil, err
	}
	if err := rs.start(); err != nil {
		return nil, err
	}
	return rs.names()
}

// names reads the next record as a header.
func (rs *records) names() ([]string, error) {
	switch err := rs.read(); {
	case err == io.EOF:
		return nil, &FaultError{File: rs.file, Fault: "must have a header"}
	case err != nil:
		return nil, err
	}
	names := make([]string, len(rs.fields))
	for i, name := range rs.fields {
		names[i] = string(name)
	}
	return names, nil
}

// byteByByte keeps a records from asking for more text than it needs.
type byteByByte struct{ r io.Reader }

func (b byteByByte) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return b.r.Read(p[:1])
}
