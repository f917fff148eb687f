// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

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

// FuzzUnpackRuns feeds the decoder of runs, which must neither fail on its own
// bounds nor hand out more bits than asked for.
func FuzzUnpackRuns(f *testing.F) {
	f.Add([]byte{3, 0x88, 0xc6, 0xfa}, byte(3))
	f.Add([]byte{200, 1, 5}, byte(3))
	f.Fuzz(func(t *testing.T, data []byte, width byte) {
		h, err := newHybrid(bytes.Clone(data), uint(width))
		if err != nil {
			return
		}
		out := make([]uint32, 77)
		for range 20 {
			if h.read(out) != nil {
				return
			}
		}
	})
}

// FuzzUnpackDeltas feeds the decoders of deltas, which must not fail on their own bounds, and keep
// to the room that they state. What they read as texts, the Parquet library does, too.
func FuzzUnpackDeltas(f *testing.F) {
	const most = 500
	texts := []string{"", "a", "ab", "ab", "abba", "b", strings.Repeat("ab", 100)}
	f.Add(encodeTexts(f, format.DeltaByteArray, texts), byte(0))
	f.Add(encodeTexts(f, format.DeltaLengthByteArray, texts), byte(1))
	f.Add(packInts(f, []int32{math.MaxInt32, math.MinInt32, 0, 1}), byte(2))
	f.Add(packInts(f, make([]int32, most)), byte(3))
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		of, cell := format.DeltaByteArray, textType
		switch kind % 4 {
		case 1:
			of = format.DeltaLengthByteArray
		case 2:
			of, cell.physical = format.DeltaBinaryPacked, format.Int32
		case 3:
			of, cell.physical = format.DeltaBinaryPacked, format.Int64
		}
		var got []string
		var numbers []int64
		var err error
		var v *valueReader
		took := memoryOf(func() {
			for v, err = newValueReader(cell, of, data, most); err == nil; {
				var out *values
				if out, err = v.nextValues(1); err == nil {
					numbers = append(numbers, out.ints...)
				}
				if err == nil && len(out.texts) > 0 {
					got = append(got, string(out.texts[0]))
				}
			}
		})
		if limit := uint64(1<<20 + 4*most*len(data)); took > limit {
			t.Errorf("%d bytes took %d bytes of memory, more than %d", len(data), took, limit)
		}
		if len(got) > most || len(numbers) > most {
			t.Fatalf("%d texts and %d numbers, want at most %d", len(got), len(numbers), most)
		}
		if len(got) == 0 || v.joined != nil && len(v.joined.text) > 0 { // the library takes the last bytes, whichever
			return
		}
		defer func() { recover() }() // the library fails where lengths behind those read make no sense
		text, ends, err := parquet.LookupEncoding(of).DecodeByteArray(nil, data, nil)
		if err != nil || len(ends) != len(got)+1 {
			return
		}
		for i, want := range got {
			if string(text[ends[i]:ends[i+1]]) != want {
				t.Errorf("text %d of %d is %q, and the library's is %q", i, len(got), want, text[ends[i]:ends[i+1]])
			}
		}
	})
}
