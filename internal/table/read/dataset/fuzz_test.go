// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// memoryOf is the bytes of memory that f takes in all, whether it gives them
// back or not.
func memoryOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzReadCSV feeds text of three dialects. Whatever it is, the reader comes
// back with whole columns of declared codes, or with a fault that holds no
// cell, and takes memory in proportion to the text.
func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{
		header + "1,2,x,0\n", header + "1,2,\"x\ny\",1\r\n\n\n", "\xef\xbb\xbf" + header, "\xff\xfea", "PAR1", "\x1f\x8b",
		"a;p;c;label\n1;'2';x;0\n", "@data\nskip\n%c\n1,2,x,0\n", header + "\"", header + "1e400,-0,NaN,1", "a\r,p",
		"\"a\"\"\",p",
	} {
		f.Add(text, byte(0))
		f.Add(text, byte(1))
		f.Add(text, byte(2))
	}
	f.Fuzz(func(t *testing.T, text string, dialect byte) {
		s := tinySchema()
		switch dialect % 3 {
		case 1:
			s.Dialect = schema.Dialect{Delimiter: ';', Quote: '\'', Header: true, Trim: true}
		case 2:
			s.Dialect = schema.Dialect{Delimiter: ',', Comment: "%", SkipUntil: "@data", SkipRecords: 1}
		}
		cols, label, err := newCoders(s)
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{ctx: context.Background(), s: s, opts: Options{MaxRows: math.MaxInt32}, cols: cols, label: label}
		took := memoryOf(func() { err = r.readText("t.csv", strings.NewReader(text)) })
		if limit := uint64(4<<20 + 100*len(text)); took > limit {
			t.Errorf("%d bytes of text took %d bytes of memory, more than %d", len(text), took, limit)
		}
		var fault *FaultError
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("error %v, want a fault", err)
		}
		if err != nil {
			return
		}
		tab := r.makeTable()
		if len(tab.Labels) != tab.Rows {
			t.Fatalf("%d labels, want %d", len(tab.Labels), tab.Rows)
		}
		for j := range tab.Cols {
			if tab.Cols[j].Codes.Len() != tab.Rows {
				t.Fatalf("column %d: %d codes, want %d", j, tab.Cols[j].Codes.Len(), tab.Rows)
			}
			for _, x := range tab.Cols[j].Values {
				if !(x >= -100 && x <= 100) || x == 0 && math.Signbit(x) {
					t.Fatalf("column %d holds %v", j, x)
				}
			}
		}
	})
}

// FuzzReadParquet feeds damaged files.
func FuzzReadParquet(f *testing.F) {
	rows := randomRows(30)
	for _, options := range [][]parquet.WriterOption{
		{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
		{parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(2)},
		{parquet.Compression(&parquet.Gzip), parquet.MaxRowsPerRowGroup(7)},
		{parquet.Compression(&parquet.Lz4Raw)},
		{parquet.Compression(&parquet.Uncompressed), parquet.PageBufferSize(16)},
	} {
		data, err := os.ReadFile(writeParquet(f, rows, options...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, texts := range []encoding.Encoding{&parquet.DeltaLengthByteArray, &parquet.DeltaByteArray} {
		for _, numbers := range []encoding.Encoding{&parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit} {
			data, err := os.ReadFile(writeParquet(f, encodedRows(60), parquet.DefaultEncodingFor(parquet.ByteArray, texts),
				parquet.DefaultEncodingFor(parquet.Int32, numbers), parquet.DefaultEncodingFor(parquet.Int64, numbers),
				parquet.DefaultEncodingFor(parquet.Double, &parquet.ByteStreamSplit),
				parquet.DefaultEncodingFor(parquet.Boolean, &parquet.RLE)))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add(rowBomb(f, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		took := memoryOf(func() { _ = readBytes(t, data) })
		// Of the rows that the metadata name, room is made for four columns' codes, at most 4 bytes
		// each.
		if limit := uint64(512<<20 + 30_000*len(data)); took > limit {
			t.Errorf("%d bytes of Parquet took %d bytes of memory, more than %d", len(data), took, limit)
		}
	})
}
