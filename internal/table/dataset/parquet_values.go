// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

var errValues = errors.New("dataset: malformed values")

// values are cells in Parquet's own types. Exactly one slice is in use, depending on the column's
// type.
type values struct {
	ints   []int64
	floats []float64
	texts  [][]byte // valid until the next page
	truths []uint32 // 0 or 1
	kind   kind
}

// slice returns the values from from to to, exclusive.
func (v *values) slice(from, to int) values {
	out := values{kind: v.kind}
	switch v.kind {
	case ints:
		out.ints = v.ints[from:to]
	case floats:
		out.floats = v.floats[from:to]
	case texts:
		out.texts = v.texts[from:to]
	case truths:
		out.truths = v.truths[from:to]
	}
	return out
}

// kind selects the slice of values that a column uses.
type kind int

const (
	ints kind = iota
	floats
	texts
	truths
)

// cellType is a supported column type.
type cellType struct {
	physical format.Type
	unsigned bool
	optional bool
	date     bool // its numbers are days since 1970-01-01
}

func (t cellType) kind() kind {
	switch t.physical {
	case format.Int32, format.Int64:
		return ints
	case format.Float, format.Double:
		return floats
	case format.Boolean:
		return truths
	}
	return texts
}

// size returns the size of an integer or a float in bytes.
func (t cellType) size() int {
	if t.physical == format.Int32 || t.physical == format.Float {
		return 4
	}
	return 8
}

// cellTypeOf refuses types whose stored number is not their meaning (decimals, times) and types that
// are not a single cell. Dates are accepted in columns of dates only.
func cellTypeOf(column *parquet.Column) (t cellType, ok bool) {
	if column == nil {
		return t, false
	}
	t.optional = column.Optional()
	if logical := column.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case nil, *format.StringType, *format.EnumType, *format.JsonType:
		case *format.IntType:
			t.unsigned = !l.IsSigned
		case *format.DateType:
			t.date = true
		default:
			return t, false
		}
	}
	switch column.Type().Kind() {
	case parquet.Boolean:
		t.physical = format.Boolean
	case parquet.Int32:
		t.physical = format.Int32
	case parquet.Int64:
		t.physical = format.Int64
	case parquet.Float:
		t.physical = format.Float
	case parquet.Double:
		t.physical = format.Double
	case parquet.ByteArray:
		t.physical = format.ByteArray
	default:
		return t, false
	}
	return t, !t.date || t.physical == format.Int32
}

// valueReader decodes the values of one page, or of a dictionary, one batch at a time.
type valueReader struct {
	t      cellType
	most   int      // largest number of values to read at once
	plain  []byte   // not yet decoded: PLAIN values, or texts whose lengths are in deltas
	bit    int      // offset into plain of the next boolean
	runs   *hybrid  // RLE booleans
	deltas deltas   // DELTA_BINARY_PACKED integers, or lengths of texts
	joined *joined  // DELTA_BYTE_ARRAY texts
	split  [][]byte // BYTE_STREAM_SPLIT: the first bytes of the values, the second bytes, and so on
	whole  []byte   // values assembled from split
	ints   []int64  // lengths of the returned texts
	out    values
	mode   format.Encoding
}

// newValueReader reads at most rows values of type t from data.
func newValueReader(t cellType, encoding format.Encoding, data []byte, rows int) (v *valueReader, err error) {
	v = &valueReader{t: t, most: batch, mode: encoding, plain: data}
	v.out.kind = t.kind()
	switch {
	case encoding == format.Plain:
	case encoding == format.RLE && t.physical == format.Boolean:
		if len(data) == 0 { // a page of nulls
			break
		}
		if len(data) < 4 {
			return nil, errValues
		}
		n := binary.LittleEndian.Uint32(data)
		if uint64(n) > uint64(len(data)-4) {
			return nil, errValues
		}
		v.runs, err = newHybrid(data[4:4+n], 1)
	case encoding == format.DeltaBinaryPacked && v.out.kind == ints:
		v.deltas, err = newDeltas(data, rows)
	case encoding == format.DeltaLengthByteArray && v.out.kind == texts:
		if v.deltas, err = newDeltas(data, rows); err == nil {
			walk := v.deltas
			v.plain, err = walk.skip()
		}
	case encoding == format.DeltaByteArray && v.out.kind == texts:
		v.joined, v.most, err = newJoined(data, rows)
	case encoding == format.ByteStreamSplit && (v.out.kind == ints || v.out.kind == floats):
		n := len(data) / t.size()
		if n*t.size() != len(data) {
			return nil, errValues
		}
		for at := 0; at < len(data); at += n {
			v.split = append(v.split, data[at:at+n])
		}
	default:
		return nil, errEncoding
	}
	return v, err
}

var errEncoding = errors.New("dataset: unsupported encoding")

// nextValues returns the next n values, valid until the next call.
func (v *valueReader) nextValues(n int) (*values, error) {
	out := &v.out
	switch {
	case v.mode == format.DeltaBinaryPacked:
		return out, v.readDeltas(n)
	case v.mode == format.DeltaLengthByteArray:
		return out, v.lengthByteArrays(n)
	case v.mode == format.DeltaByteArray:
		out.texts = resizeSlice(out.texts, n)
		return out, v.joined.read(out.texts)
	case v.t.physical == format.Boolean:
		return out, v.readBooleans(n)
	case v.t.physical == format.ByteArray:
		return out, v.byteArrays(n)
	}
	return out, v.readFixed(n)
}

func (v *valueReader) readDeltas(n int) error {
	v.out.ints = resizeSlice(v.out.ints, n)
	if err := v.deltas.read(v.out.ints); err != nil {
		return err
	}
	for i, x := range v.out.ints {
		if v.t.physical == format.Int32 {
			v.out.ints[i] = v.int32(uint32(x))
		} else {
			v.out.ints[i] = v.int64(uint64(x))
		}
	}
	return nil
}

func (v *valueReader) lengthByteArrays(n int) error {
	v.ints, v.out.texts = resizeSlice(v.ints, n), resizeSlice(v.out.texts, n)
	if err := v.deltas.read(v.ints); err != nil {
		return err
	}
	for i, size := range v.ints {
		if size < 0 || size > int64(len(v.plain)) {
			return errValues
		}
		v.out.texts[i] = v.plain[:size:size]
		v.plain = v.plain[size:]
	}
	return nil
}

func (v *valueReader) readBooleans(n int) error {
	v.out.truths = resizeSlice(v.out.truths, n)
	if v.runs != nil {
		return v.runs.read(v.out.truths)
	}
	if v.bit+n > 8*len(v.plain) {
		return errValues
	}
	for i := range v.out.truths {
		v.out.truths[i] = uint32(v.plain[v.bit>>3] >> (v.bit & 7) & 1)
		v.bit++
	}
	return nil
}

func (v *valueReader) byteArrays(n int) error {
	v.out.texts = resizeSlice(v.out.texts, n)
	for i := range v.out.texts {
		if len(v.plain) < 4 {
			return errValues
		}
		size := binary.LittleEndian.Uint32(v.plain)
		if uint64(size) > uint64(len(v.plain)-4) {
			return errValues
		}
		v.out.texts[i] = v.plain[4 : 4+size : 4+size]
		v.plain = v.plain[4+size:]
	}
	return nil
}

func (v *valueReader) readFixed(n int) error {
	size := v.t.size()
	if n > len(v.plain)/size {
		return errValues
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
		v.out.ints = resizeSlice(v.out.ints, n)
		for i := range v.out.ints {
			v.out.ints[i] = v.int32(binary.LittleEndian.Uint32(from[4*i:]))
		}
	case format.Int64:
		v.out.ints = resizeSlice(v.out.ints, n)
		for i := range v.out.ints {
			v.out.ints[i] = v.int64(binary.LittleEndian.Uint64(from[8*i:]))
		}
	case format.Float:
		v.out.floats = resizeSlice(v.out.floats, n)
		for i := range v.out.floats {
			v.out.floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:])))
		}
	default:
		v.out.floats = resizeSlice(v.out.floats, n)
		for i := range v.out.floats {
			v.out.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(from[8*i:]))
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

// int64 replaces values beyond the range of int64 by its largest value.
func (v *valueReader) int64(bits uint64) int64 {
	if v.t.unsigned {
		return int64(min(bits, math.MaxInt64))
	}
	return int64(bits)
}

func resizeSlice[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}
