// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// encodedRow is a row of smallSchema of which a writer encodes each column as it is told.
type encodedRow struct {
	Age    *float64 `parquet:"age,optional"`
	Income *int64   `parquet:"income,optional"`
	City   *string  `parquet:"city,optional"`
	Rank   *int32   `parquet:"rank,optional"`
	Note   *float32 `parquet:"note,optional"`
	Sick   *bool    `parquet:"sick,optional"`
}

// encodedRows are n rows of which every other stretch of 200 holds nulls alone, so that there are
// pages without a value.
func encodedRows(n int) []encodedRow {
	random := rand.New(rand.NewPCG(3, 4))
	rows := make([]encodedRow, n)
	city := ""
	for i, r := range randomRows(n) {
		if i/200%2 == 1 {
			continue
		}
		switch random.IntN(4) {
		case 0: // a prefix of the cell before
			city = city[:random.IntN(len(city)+1)]
		case 1:
			city += strings.Repeat("x", random.IntN(40))
		case 2: // the cell before
		default:
			city = []string{"Rome", "Oslo", "Kristiania", ""}[random.IntN(4)]
		}
		text, rank, note := city, r.Rank, float32(i)
		if i%7 == 0 {
			rank = int32(random.Uint32())
		}
		sick := r.Sick || i/50%3 == 0 // stretches of one value are runs
		rows[i] = encodedRow{r.Age, r.Income, &text, &rank, &note, &sick}
		if i%11 == 0 {
			x := int64(random.Uint64())
			rows[i].Income = &x
		}
	}
	return rows
}

// A writer picks an encoding by what the cells hold: those of DuckDB, Java and Rust leave a
// dictionary that has grown too large for whichever encoding is listed here. It decides nothing.
func TestEncodingsReadAlike(t *testing.T) {
	rows := encodedRows(3000)
	s := smallSchema()
	s.Label.Default = 0
	want, err := Read(t.Context(), s, Options{}, writeParquet(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		kind     parquet.Kind
		encoding encoding.Encoding
	}{
		{parquet.Boolean, &parquet.RLE},
		{parquet.Int32, &parquet.RLEDictionary}, {parquet.Int32, &parquet.DeltaBinaryPacked},
		{parquet.Int32, &parquet.ByteStreamSplit},
		{parquet.Int64, &parquet.RLEDictionary}, {parquet.Int64, &parquet.DeltaBinaryPacked},
		{parquet.Int64, &parquet.ByteStreamSplit},
		{parquet.Double, &parquet.RLEDictionary}, {parquet.Double, &parquet.ByteStreamSplit},
		{parquet.Float, &parquet.ByteStreamSplit},
		{parquet.ByteArray, &parquet.RLEDictionary}, {parquet.ByteArray, &parquet.DeltaLengthByteArray},
		{parquet.ByteArray, &parquet.DeltaByteArray},
	} {
		for _, version := range []int{1, 2} {
			for _, page := range []int{300, 1 << 20} {
				path := writeParquet(t, rows, parquet.DefaultEncodingFor(of.kind, of.encoding),
					parquet.DataPageVersion(version), parquet.PageBufferSize(page), parquet.Compression(&parquet.Snappy))
				got, err := Read(t.Context(), s, Options{}, path)
				if err != nil {
					t.Errorf("%v in %v, pages v%d of %d bytes: %v", of.kind, of.encoding, version, page, err)
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("%v in %v, pages v%d of %d bytes: another table than from PLAIN", of.kind, of.encoding, version,
						page)
				}
			}
		}
	}
}

// textType is a text that is never null.
var textType = cellType{physical: format.ByteArray}

// readTexts reads n texts as chunk does, and hands out copies.
func readTexts(encoding format.Encoding, data []byte, n int) (texts []string, err error) {
	v, err := newValueReader(textType, encoding, data, n)
	for err == nil && len(texts) < n {
		var out *values
		if out, err = v.nextValues(min(n-len(texts), v.most)); err == nil {
			for _, text := range out.texts {
				texts = append(texts, string(text))
			}
		}
	}
	return texts, err
}

// encodeTexts is texts as the Parquet library writes them.
func encodeTexts(t testing.TB, of format.Encoding, texts []string) []byte {
	t.Helper()
	ends := []uint32{0}
	for _, text := range texts {
		ends = append(ends, ends[len(ends)-1]+uint32(len(text)))
	}
	data, err := parquet.LookupEncoding(of).EncodeByteArray(nil, []byte(strings.Join(texts, "")), ends)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Texts longer than what is joined in one go come back whole, and so do those around them.
func TestLongTextsOfEveryEncoding(t *testing.T) {
	long := strings.Repeat("long", maxJoined/4)
	texts := []string{"", "a", long, long, long[:7], long + "er", long[:len(long)-1], "", "b", long}
	for range 3 * batch {
		texts = append(texts, long[:5]+"x", long[:3])
	}
	for _, of := range []format.Encoding{format.DeltaLengthByteArray, format.DeltaByteArray} {
		got, err := readTexts(of, encodeTexts(t, of, texts), len(texts))
		if err != nil {
			t.Fatalf("%v: %v", of, err)
		}
		if !slices.Equal(got, texts) {
			t.Errorf("%v: other texts", of)
		}
	}
}

// A prefix can be repeated at no cost, so that a page of a few bytes stands for far more text than
// may be kept. Room is made for maxJoined bytes of it, or for one cell, which its page holds.
func TestPrefixBombs(t *testing.T) {
	const cells = 1 << 15
	for _, size := range []int{1000, 1 << 20, maxJoined + 1} {
		texts := make([]string, cells)
		first := strings.Repeat("x", size)
		for i := range texts {
			texts[i] = first
		}
		prefixes, suffixes := make([]int32, cells), make([]int32, cells)
		suffixes[0] = int32(size)
		for i := 1; i < cells; i++ {
			prefixes[i] = int32(size) - int32(i%2)
			suffixes[i] = int32(i % 2)
		}
		data := packInts(t, prefixes)
		data = append(data, packInts(t, suffixes)...)
		data = append(data, bytes.Repeat([]byte("x"), size+cells/2)...)
		few := cells
		if size > 1000 {
			few = 64 // each joined cell is copied
		}
		met := 0
		took := memoryOf(func() {
			v, err := newValueReader(textType, format.DeltaByteArray, data, cells)
			for err == nil && met < few {
				var out *values
				if out, err = v.nextValues(min(few-met, v.most)); err == nil {
					for _, text := range out.texts {
						if string(text) != first {
							t.Fatalf("cell %d of %d bytes differs", met, size)
						}
					}
					met += len(out.texts)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
		if limit := uint64(maxJoined + 2*size + 1<<20); took > limit {
			t.Errorf("cells of %d bytes: %d bytes of memory, more than %d", size, took, limit)
		}
	}
}

// The same of a whole file, as a correct writer makes it of long cells that are almost alike.
func TestPrefixBombOfAFile(t *testing.T) {
	long := strings.Repeat("x", 128<<10)
	rows := make([]encodedRow, batch)
	for i := range rows {
		text, sick := long+string(rune('a'+i%26)), false
		rows[i].City, rows[i].Sick = &text, &sick
	}
	path := writeParquet(t, rows, parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray),
		parquet.PageBufferSize(1<<30))
	var tab *Table
	var err error
	took := memoryOf(func() { tab, err = Read(t.Context(), smallSchema(), Options{}, path) })
	if err != nil || tab.Rows != len(rows) {
		t.Fatalf("error %v, want %d rows", err, len(rows))
	}
	if limit := uint64(maxJoined + 8<<20); took > limit {
		t.Errorf("%d bytes of memory, more than %d", took, limit)
	}
}

func packInts(t testing.TB, x []int32) []byte {
	t.Helper()
	data, err := parquet.LookupEncoding(format.DeltaBinaryPacked).EncodeInt32(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A header that claims 2^26 values in blocks that take no room stands for no memory.
func TestDeltaBombs(t *testing.T) {
	const n = 1 << 26
	const block = 1 << 16
	var none []byte
	for _, x := range []uint64{block, 4, n, 0} {
		none = binary.AppendUvarint(none, x)
	}
	none = append(none, make([]byte, n/block*5)...) // the least delta, and four widths of 0 bits
	number := cellType{physical: format.Int64}
	for _, of := range []struct {
		t        cellType
		encoding format.Encoding
		data     []byte
	}{
		{number, format.DeltaBinaryPacked, none},
		{textType, format.DeltaLengthByteArray, none},
		{textType, format.DeltaByteArray, append(slices.Clone(none), none...)},
	} {
		took := memoryOf(func() {
			v, err := newValueReader(of.t, of.encoding, of.data, n)
			for i := 0; err == nil && i < 3; i++ {
				_, err = v.nextValues(batch)
			}
			if err != nil {
				t.Errorf("%v: %v", of.encoding, err)
			}
		})
		if took > 1<<20 {
			t.Errorf("%v: %d bytes of memory for %d bytes", of.encoding, took, len(of.data))
		}
		if _, err := newValueReader(of.t, of.encoding, of.data, n-1); err == nil {
			t.Errorf("%v: more values than rows are let through", of.encoding)
		}
	}
}

// What no writer writes is refused, before its lengths are believed.
func TestMalformedDeltas(t *testing.T) {
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, row := range map[string]struct {
		encoding format.Encoding
		n        int // of texts
		data     []byte
	}{
		"no block":            {format.DeltaLengthByteArray, 2, []byte{0, 4, 2, 0}},
		"a block of 100":      {format.DeltaLengthByteArray, 2, []byte{100, 4, 2, 0}},
		"no miniblocks":       {format.DeltaLengthByteArray, 2, []byte{0x80, 1, 0, 2, 0}},
		"65 bits":             {format.DeltaLengthByteArray, 2, append([]byte{0x80, 1, 4, 2, 0, 0, 65, 0, 0, 0}, make([]byte, 300)...)},
		"values missing":      {format.DeltaLengthByteArray, 2, []byte{0x80, 1, 4, 2, 0, 0, 8, 0, 0, 0}},
		"widths missing":      {format.DeltaLengthByteArray, 2, []byte{0x80, 1, 4, 2, 0, 0, 8}},
		"a negative length":   {format.DeltaLengthByteArray, 1, packInts(t, []int32{-1})},
		"beyond the text":     {format.DeltaLengthByteArray, 2, join(packInts(t, []int32{1, 1}), []byte("a"))},
		"no suffixes":         {format.DeltaByteArray, 2, packInts(t, []int32{0, 0})},
		"fewer suffixes":      {format.DeltaByteArray, 1, join(packInts(t, []int32{0, 0}), packInts(t, []int32{0}))},
		"a first prefix":      {format.DeltaByteArray, 1, join(packInts(t, []int32{1}), packInts(t, []int32{1}), []byte("a"))},
		"a prefix too long":   {format.DeltaByteArray, 2, join(packInts(t, []int32{0, 2}), packInts(t, []int32{1, 0}), []byte("a"))},
		"a negative prefix":   {format.DeltaByteArray, 1, join(packInts(t, []int32{-1}), packInts(t, []int32{1}), []byte("a"))},
		"a negative suffix":   {format.DeltaByteArray, 2, join(packInts(t, []int32{0, 1}), packInts(t, []int32{1, -1}), []byte("a"))},
		"suffixes beyond":     {format.DeltaByteArray, 1, join(packInts(t, []int32{0}), packInts(t, []int32{2}), []byte("a"))},
		"lengths that wrap":   {format.DeltaByteArray, 2, join(packInts(t, []int32{0, math.MaxInt32}), packInts(t, []int32{0, math.MaxInt32}))},
		"suffixes that wrap":  {format.DeltaLengthByteArray, 3, packInts(t, []int32{math.MaxInt32, math.MaxInt32, 2})},
		"a stream cut in two": {format.DeltaByteArray, 300, packInts(t, make([]int32, 300))[:6]},
	} {
		if texts, err := readTexts(row.encoding, row.data, row.n); err == nil {
			t.Errorf("%s: read as %d texts", name, len(texts))
		}
	}
	more := join(packInts(t, []int32{0}), packInts(t, []int32{0, 0}))
	if _, err := newValueReader(textType, format.DeltaByteArray, more, 2); err == nil {
		t.Error("more suffixes than prefixes are let through")
	}
}

// A page of nulls holds no value, and some writers then write no bytes.
func TestPagesWithoutValues(t *testing.T) {
	for _, of := range []struct {
		physical format.Type
		encoding format.Encoding
	}{
		{format.Boolean, format.Plain}, {format.Boolean, format.RLE},
		{format.Int64, format.DeltaBinaryPacked}, {format.Int32, format.ByteStreamSplit},
		{format.Double, format.ByteStreamSplit}, {format.ByteArray, format.Plain},
		{format.ByteArray, format.DeltaLengthByteArray}, {format.ByteArray, format.DeltaByteArray},
	} {
		v, err := newValueReader(cellType{physical: of.physical, optional: true}, of.encoding, nil, 5)
		if err == nil {
			_, err = v.nextValues(0)
		}
		if err != nil {
			t.Errorf("%v in %v: %v", of.physical, of.encoding, err)
		} else if _, err := v.nextValues(1); err == nil {
			t.Errorf("%v in %v: a value of no bytes", of.physical, of.encoding)
		}
	}
}

// Integers of 32 bits may have deltas of more: sums are taken of their lowest bits.
func TestWideDeltas(t *testing.T) {
	for _, want := range [][]int64{
		{math.MinInt32, math.MaxInt32, -1, 0, math.MaxInt32, math.MinInt32},
		{math.MinInt64, math.MaxInt64, -1, 0, math.MaxInt64, math.MinInt64, 7},
	} {
		physical := format.Int64
		if len(want) == 6 {
			physical = format.Int32
		}
		data, err := parquet.LookupEncoding(format.DeltaBinaryPacked).EncodeInt64(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		v, err := newValueReader(cellType{physical: physical}, format.DeltaBinaryPacked, data, len(want))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := v.nextValues(len(want)); err != nil || !slices.Equal(out.ints, want) {
			t.Errorf("%v: %v, want %v and no error", physical, out.ints, want)
		}
	}
}

// TestDeltasMatchLibrary compares the decoder with the Parquet library's encoder, for every width
// and in steps of several sizes.
func TestDeltasMatchLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for width := range 65 {
		for _, n := range []int{0, 1, 2, 33, 129, 1000} {
			want := make([]int64, n)
			for i := range want {
				if width > 0 {
					want[i] = int64(random.Uint64()) >> (64 - width)
				}
			}
			data, err := parquet.LookupEncoding(format.DeltaBinaryPacked).EncodeInt64(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, "behind"...)
			for _, step := range []int{1, 7, 32, 1000} {
				d, err := newDeltas(data, n)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]int64, n)
				for from := 0; from < n && err == nil; from += step {
					err = d.read(got[from:min(n, from+step)])
					walk := d
					if rest, err := walk.skip(); err != nil || string(rest) != "behind" {
						t.Fatalf("width %d, %d values: %q behind and error %v", width, n, rest, err)
					}
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("width %d, %d values in steps of %d: other values, error %v", width, n, step, err)
				}
			}
		}
	}
}
