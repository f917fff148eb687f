// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// ErrValues is what pages return whose bytes are not what their headers claim.
var ErrValues = errors.New("pages: malformed values")

// Values are cells in Parquet's own types. Exactly one slice is in use, depending on the column's
// type.
type Values struct {
	Ints   []int64
	Floats []float64
	Texts  [][]byte // valid until the next page
	Truths []uint32 // 0 or 1
	Kind   Kind
}

// Slice returns the values from from to to, exclusive.
func (v *Values) Slice(from, to int) Values {
	out := Values{Kind: v.Kind}
	switch v.Kind {
	case Ints:
		out.Ints = v.Ints[from:to]
	case Floats:
		out.Floats = v.Floats[from:to]
	case Texts:
		out.Texts = v.Texts[from:to]
	case Truths:
		out.Truths = v.Truths[from:to]
	}
	return out
}

// Kind selects the slice of values that a column uses.
type Kind int

const (
	Ints Kind = iota
	Floats
	Texts
	Truths
)

// valueReader decodes the values of one page, or of a dictionary, one batch at a time.
type valueReader struct {
	t      Type
	most   int      // largest number of values to read at once
	plain  []byte   // not yet decoded: PLAIN values, or texts whose lengths are in deltas
	bit    int      // offset into plain of the next boolean
	runs   *hybrid  // RLE booleans
	deltas deltas   // DELTA_BINARY_PACKED integers, or lengths of texts
	joined *joined  // DELTA_BYTE_ARRAY texts
	split  [][]byte // BYTE_STREAM_SPLIT: the first bytes of the values, the second bytes, and so on
	whole  []byte   // values assembled from split
	spelt  []byte   // texts made of the values
	ints   []int64  // lengths of the returned texts
	out    Values
	mode   format.Encoding
}

// newValueReader reads at most rows values of type t from data.
func newValueReader(t Type, encoding format.Encoding, data []byte, rows int) (v *valueReader, err error) {
	v = &valueReader{t: t, most: Batch, mode: encoding, plain: data}
	v.out.Kind = t.Kind()
	switch {
	case encoding == format.Plain:
	case encoding == format.RLE && t.physical == format.Boolean:
		if len(data) == 0 { // a page of nulls
			break
		}
		if len(data) < 4 {
			return nil, ErrValues
		}
		n := binary.LittleEndian.Uint32(data)
		if uint64(n) > uint64(len(data)-4) {
			return nil, ErrValues
		}
		v.runs, err = newHybrid(data[4:4+n], 1)
	case encoding == format.DeltaBinaryPacked && (t.physical == format.Int32 || t.physical == format.Int64):
		v.deltas, err = newDeltas(data, rows)
	case encoding == format.DeltaLengthByteArray && t.hasBytes():
		if v.deltas, err = newDeltas(data, rows); err == nil {
			walk := v.deltas
			v.plain, err = walk.skip()
		}
	case encoding == format.DeltaByteArray && t.hasBytes():
		v.joined, v.most, err = newJoined(data, rows)
	case encoding == format.ByteStreamSplit && t.size() > 0 && t.size() <= maxStreams:
		n := len(data) / t.size()
		if n*t.size() != len(data) {
			return nil, ErrValues
		}
		for at := 0; at < len(data); at += n {
			v.split = append(v.split, data[at:at+n])
		}
	default:
		return nil, ErrEncoding
	}
	return v, err
}

// ErrEncoding is returned for an encoding or a codec that is not supported.
var ErrEncoding = errors.New("pages: unsupported encoding")

// maxStreams is the largest size in bytes of values whose bytes are split, each of which takes a slice.
const maxStreams = 64

// nextValues returns the next n values, valid until the next call.
func (v *valueReader) nextValues(n int) (*Values, error) {
	err := v.readValues(n)
	if err == nil && (v.t.hasBytes() || v.t.physical == format.Int96) {
		err = v.convert()
	}
	return &v.out, err
}

func (v *valueReader) readValues(n int) error {
	switch {
	case v.mode == format.DeltaBinaryPacked:
		return v.readDeltas(n)
	case v.mode == format.DeltaLengthByteArray:
		return v.lengthByteArrays(n)
	case v.mode == format.DeltaByteArray:
		v.out.Texts = resizeSlice(v.out.Texts, n)
		return v.joined.read(v.out.Texts)
	case v.t.physical == format.Boolean:
		return v.readBooleans(n)
	case v.t.physical == format.ByteArray:
		return v.byteArrays(n)
	}
	return v.readFixed(n)
}

func (v *valueReader) readDeltas(n int) error {
	v.out.Ints = resizeSlice(v.out.Ints, n)
	if err := v.deltas.read(v.out.Ints); err != nil {
		return err
	}
	if v.t.physical == format.Int32 {
		for i, x := range v.out.Ints {
			v.out.Ints[i] = v.int32(uint32(x))
		}
	}
	return nil
}

func (v *valueReader) lengthByteArrays(n int) error {
	v.ints, v.out.Texts = resizeSlice(v.ints, n), resizeSlice(v.out.Texts, n)
	if err := v.deltas.read(v.ints); err != nil {
		return err
	}
	for i, size := range v.ints {
		if size < 0 || size > int64(len(v.plain)) {
			return ErrValues
		}
		v.out.Texts[i] = v.plain[:size:size]
		v.plain = v.plain[size:]
	}
	return nil
}

func (v *valueReader) readBooleans(n int) error {
	v.out.Truths = resizeSlice(v.out.Truths, n)
	if v.runs != nil {
		return v.runs.read(v.out.Truths)
	}
	if v.bit+n > 8*len(v.plain) {
		return ErrValues
	}
	for i := range v.out.Truths {
		v.out.Truths[i] = uint32(v.plain[v.bit>>3] >> (v.bit & 7) & 1)
		v.bit++
	}
	return nil
}

func (v *valueReader) byteArrays(n int) error {
	v.out.Texts = resizeSlice(v.out.Texts, n)
	for i := range v.out.Texts {
		if len(v.plain) < 4 {
			return ErrValues
		}
		size := binary.LittleEndian.Uint32(v.plain)
		if uint64(size) > uint64(len(v.plain)-4) {
			return ErrValues
		}
		v.out.Texts[i] = v.plain[4 : 4+size : 4+size]
		v.plain = v.plain[4+size:]
	}
	return nil
}

func (v *valueReader) readFixed(n int) error {
	size := v.t.size()
	if n > len(v.plain)/size {
		return ErrValues
	}
	from := v.plain[:n*size]
	v.plain = v.plain[n*size:]
	if v.mode == format.ByteStreamSplit {
		v.whole = resizeSlice(v.whole, n*size)
		for at, stream := range v.split {
			for i, b := range stream[:n] {
				v.whole[i*size+at] = b
			}
			v.split[at] = stream[n:]
		}
		from = v.whole
	}
	switch v.t.physical {
	case format.Int32:
		v.out.Ints = resizeSlice(v.out.Ints, n)
		for i := range v.out.Ints {
			v.out.Ints[i] = v.int32(binary.LittleEndian.Uint32(from[4*i:]))
		}
	case format.Int64:
		v.out.Ints = resizeSlice(v.out.Ints, n)
		for i := range v.out.Ints {
			v.out.Ints[i] = int64(binary.LittleEndian.Uint64(from[8*i:]))
		}
	case format.Float:
		v.out.Floats = resizeSlice(v.out.Floats, n)
		for i := range v.out.Floats {
			v.out.Floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:])))
		}
	case format.FixedLenByteArray, format.Int96:
		v.out.Texts = resizeSlice(v.out.Texts, n)
		for i := range v.out.Texts {
			v.out.Texts[i] = from[i*size : (i+1)*size : (i+1)*size]
		}
	default:
		v.out.Floats = resizeSlice(v.out.Floats, n)
		for i := range v.out.Floats {
			v.out.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(from[8*i:]))
		}
	}
	return nil
}

func (v *valueReader) int32(bits uint32) int64 {
	if v.t.unsigned {
		return int64(bits)
	}
	return int64(int32(bits))
}

func resizeSlice[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}
