// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A list may not claim more elements than its bytes hold.
func TestListsThatClaimTooMuch(t *testing.T) {
	for name, list := range map[string][]byte{
		"2^31-1 structs": {0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0},
		"empty structs":  {0x19, 0x8c, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if _, err := ThriftLength(list); err == nil {
			t.Errorf("a list of %s is let through", name)
		}
	}
}

// textType is a text that is never null.
var textType = Type{physical: format.ByteArray}

// readTexts reads n texts as chunk does, and hands out copies.
func readTexts(encoding format.Encoding, data []byte, n int) (texts []string, err error) {
	v, err := newValueReader(textType, encoding, data, n)
	for err == nil && len(texts) < n {
		var out *Values
		if out, err = v.nextValues(min(n-len(texts), v.most)); err == nil {
			for _, text := range out.Texts {
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
	for range 3 * Batch {
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
				var out *Values
				if out, err = v.nextValues(min(few-met, v.most)); err == nil {
					for _, text := range out.Texts {
						if string(text) != first {
							t.Fatalf("cell %d of %d bytes differs", met, size)
						}
					}
					met += len(out.Texts)
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
	number := Type{physical: format.Int64}
	for _, of := range []struct {
		t        Type
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
				_, err = v.nextValues(Batch)
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
		v, err := newValueReader(Type{physical: of.physical, Optional: true}, of.encoding, nil, 5)
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
		v, err := newValueReader(Type{physical: physical}, format.DeltaBinaryPacked, data, len(want))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := v.nextValues(len(want)); err != nil || !slices.Equal(out.Ints, want) {
			t.Errorf("%v: %v, want %v and no error", physical, out.Ints, want)
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

func TestPageBombs(t *testing.T) {
	zeros := make([]byte, 40<<20)
	for _, codec := range []format.CompressionCodec{format.Snappy, format.Gzip, format.Zstd, format.Lz4Raw,
		format.Brotli} {
		packed, err := parquet.LookupCompressionCodec(codec).Encode(nil, zeros)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, len(zeros))
		if err := unpackInto(out, packed, codec); err != nil || !bytes.Equal(out, zeros) {
			t.Errorf("%v: %v", codec, err)
		}
		for _, wrong := range []int{0, 100, len(zeros) - 1, len(zeros) + 1} {
			if unpackInto(make([]byte, wrong), packed, codec) == nil {
				t.Errorf("%v: %d bytes taken for %d", codec, len(zeros), wrong)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = unpackInto(make([]byte, 100), packed, codec)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 24<<20 {
			t.Errorf("%v: %d bytes of memory to refuse a bomb", codec, grown)
		}
	}
	// A page of runs that claim 2^24 values each.
	var runs []byte
	for range 1000 {
		runs = append(binary.AppendUvarint(runs, 1<<25), 0)
	}
	h, err := newHybrid(runs, 1)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, 100)
	if got := testing.AllocsPerRun(10, func() { _ = h.read(out) }); got != 0 {
		t.Errorf("%v allocations to read 100 values", got)
	}
}

// TestHybridMatchesLibrary compares the decoder of runs with the Parquet
// library's encoder, for every width.
func TestHybridMatchesLibrary(t *testing.T) {
	for width := range 33 {
		want := make([]int32, 3001)
		for i := range want {
			x := uint64(i) * 0x9e3779b97f4a7c15 >> 7
			if i%700 < 200 {
				x = uint64(i / 700)
			}
			want[i] = int32(uint32(x & (1<<width - 1)))
		}
		want[0] = int32(uint32(1<<width - 1)) // so that the encoder takes this width
		data, err := parquet.LookupEncoding(format.RLEDictionary).EncodeInt32(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if int(data[0]) != width {
			t.Fatalf("encoded in %d bits, want %d", data[0], width)
		}
		for _, step := range []int{1, 7, 1024, len(want)} {
			h, err := newHybrid(data[1:], uint(data[0]))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]int32, 0, len(want))
			for len(got) < len(want) {
				out := make([]uint32, min(step, len(want)-len(got)))
				if err := h.read(out); err != nil {
					t.Fatal(err)
				}
				for _, x := range out {
					got = append(got, int32(x))
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("width %d in steps of %d: other values", width, step)
			}
		}
	}
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
				var out *Values
				if out, err = v.nextValues(1); err == nil {
					numbers = append(numbers, out.Ints...)
				}
				if err == nil && len(out.Texts) > 0 {
					got = append(got, string(out.Texts[0]))
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

// memoryOf is the bytes of memory that f takes in all, whether it gives them
// back or not.
func memoryOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
