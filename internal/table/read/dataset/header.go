// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ReadHeader returns the column names of a file in their order: the first record of a CSV file of
// dialect d, which must have a header, or the names in a Parquet file's metadata. It reads no text
// after the header's line. A first record that looks like data is a *dp.ParamError, because the file
// may have no header and the record may be about a person. That is a record with a field that is a
// number, a date, a boolean, a sign for a missing cell, empty, or repeated.
func ReadHeader(ctx context.Context, path string, d schema.Dialect) ([]string, error) {
	if IsAddress(path) {
		return readSQLNames(path)
	}
	ctx = Hold(ctx)
	path, err := firstFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if FormatOf(path) == Parquet {
		pf, f, err := openParquet(ctx, path)
		if err != nil {
			return nil, err
		}
		return pf.names, f.Close()
	}
	if !d.Header {
		return nil, &dp.ParamError{Op: "dataset", Param: "header", Want: "must be declared to read column names",
			Hint: "the first record of a file without a header is a person's data; give the number of columns instead"}
	}
	src, f, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readHeader(path, &watchingReader{ctx, src}, d)
}

func readHeader(path string, text io.Reader, d schema.Dialect) ([]string, error) {
	rs, err := openRecords(path, byteByByte{text}, d, 64)
	if err != nil {
		return nil, err
	}
	names, err := rs.readNames()
	if err != nil {
		return nil, err
	}
	if foreign := describeForeign(path, names[0]); len(names) == 1 && foreign != "" {
		return nil, &FaultError{File: path, Fault: foreign}
	}
	seen := map[string]bool{}
	for i, name := range names {
		if name = strings.TrimSpace(name); looksLikeCell(name) || seen[name] {
			return nil, &dp.ParamError{Op: "dataset: " + path, Param: "header",
				Want: fmt.Sprintf("must name each column once, and field %d of line %d is what a row has", i+1, rs.line),
				Got:  "a number, a date, a sign for a missing cell, or a field twice",
				Next: dp.Step{Kind: dp.NameColumns}}
		}
		seen[name] = true
	}
	return names, nil
}

// looksLikeCell reports whether a field is typical of data and not of a header.
func looksLikeCell(field string) bool {
	switch strings.ToLower(field) {
	case "", "?", "-", ".", "na", "n/a", "nan", "null", "none", "nil", "true", "false", "inf", "-inf":
		return true
	}
	// Numbers as any country writes them, dates, times, amounts and shares.
	digits := strings.Trim(field, "+-.,:/ %$€£()TZ0123456789eE'")
	return digits == "" && strings.ContainsAny(field, "0123456789")
}

// byteByByte prevents records from reading more text than they need.
type byteByByte struct{ r io.Reader }

func (b byteByByte) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return b.r.Read(p[:1])
}
