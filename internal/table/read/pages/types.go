// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// Column is a column of a file at its top level.
type Column struct {
	Name string
	Leaf int // its position in a row group, or that of its first leaf
	Type Type
	// Elements are those of the schema from the column to the end of what is in it, with so many leaves.
	Elements []format.SchemaElement
	Leaves   int
}

// Columns lists the columns at the top level of a schema.
func Columns(schema []format.SchemaElement) (out []Column, err error) {
	if len(schema) == 0 {
		return nil, ErrValues
	}
	leaf, next := 0, 1
	for range schema[0].NumChildren.V {
		if next >= len(schema) {
			return nil, ErrValues
		}
		c := Column{Name: schema[next].Name, Leaf: leaf, Type: typeOf(&schema[next]), Elements: schema[next:]}
		for open := 1; open > 0; next++ { // the column itself, and what is in it
			if next >= len(schema) || schema[next].NumChildren.V < 0 {
				return nil, ErrValues
			}
			open--
			if schema[next].Type.Valid {
				leaf++
			} else {
				open += int(schema[next].NumChildren.V)
			}
		}
		c.Elements, c.Leaves = c.Elements[:len(c.Elements)-(len(schema)-next)], leaf-c.Leaf
		out = append(out, c)
	}
	return out, nil
}

// Type is a column's type.
type Type struct {
	Name     string // in Parquet's words
	Meaning  Meaning
	Optional bool
	Scale    int   // of decimals: the number of digits after the point
	PerDay   int64 // of instants and local times: how many of their units make a day

	physical format.Type
	length   int // of a fixed-length value, in bytes
	unsigned bool
	logical  format.LogicalTypeValue
}

// NoTime is a missing cell among instants and local times: pandas' NaT, which some writers keep.
const NoTime = math.MinInt64

// Day returns the day of an instant or a local time, in days since 1970-01-01.
func (t Type) Day(x int64) int64 { return floorDivide(x, t.PerDay) }

// Seconds returns an instant or a local time in whole seconds since 1970-01-01.
func (t Type) Seconds(x int64) int64 { return floorDivide(x, t.PerDay/secondsOfDay) }

// Fraction returns what follows the whole second of an instant or a local time, such as .25; "" for 0.
func (t Type) Fraction(x int64) string {
	perSecond := t.PerDay / secondsOfDay
	rest := x - t.Seconds(x)*perSecond
	if rest == 0 {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf(".%0*d", len(strconv.FormatInt(perSecond, 10))-1, rest), "0")
}

// Bounds returns the least and the largest integer of a type, of decimals those before the point, and of floats of
// 16 bits those that they have without gaps; 0 and 0 for a type without integers, or with more than an
// int64 has.
func (t Type) Bounds() (least, most int64) {
	bits := 8 * t.size()
	if l, ok := t.logical.(*format.IntType); ok {
		bits = min(bits, int(l.BitWidth))
	}
	if d, ok := t.logical.(*format.DecimalType); ok && d.Precision-d.Scale < 19 {
		most = 1
		for range d.Precision - d.Scale {
			most *= 10
		}
		return 1 - most, most - 1
	}
	if l, ok := t.logical.(*format.DecimalType); ok && t.Meaning == Decimal && l.Precision-l.Scale <= 18 {
		most = 1
		for range l.Precision - l.Scale {
			most *= 10
		}
		return 1 - most, most - 1
	}
	if _, half := t.logical.(*format.Float16Type); half {
		return -2048, 2048
	}
	switch {
	case t.Meaning != Plain || t.Kind() != Ints || bits <= 0:
		return 0, 0
	case t.unsigned:
		return 0, 1<<bits - 1
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

func floorDivide(x, by int64) int64 {
	if x%by < 0 {
		return x/by - 1
	}
	return x / by
}

// Meaning states what the values of a column stand for.
type Meaning uint8

const (
	Unsupported Meaning = iota // no cells: lists, structs, times of day and so on
	Plain                      // numbers, texts and Booleans as they stand
	Single                     // floats of at most 32 bits
	Unsigned                   // integers that hold the bits of a uint64
	Day                        // integers: days since 1970-01-01
	Instant                    // integers: since 1970-01-01 in UTC
	Local                      // integers: the same on a clock whose zone is not known
	Decimal                    // integers, or texts for AppendDigits, both without the point
	Null                       // no cell has a value
)

// widest is the largest number of bytes of a decimal's value: 76 digits, as Arrow has at most.
const widest = 32

// typeOf interprets the logical type, or else the older converted type, of a column.
func typeOf(e *format.SchemaElement) Type {
	t := Type{physical: e.Type.V, length: int(e.TypeLength.V), logical: logicalOf(e),
		Optional: e.RepetitionType.V == format.Optional}
	t.Name = t.describe(e)
	fixed := t.physical == format.FixedLenByteArray
	if !e.Type.Valid || t.physical < format.Boolean || t.physical > format.FixedLenByteArray ||
		e.RepetitionType.V == format.Repeated || fixed && t.length <= 0 {
		return t
	}
	integers := t.physical == format.Int32 || t.physical == format.Int64
	switch l := t.logical.(type) {
	case nil:
		switch {
		case t.physical == format.Float:
			t.Meaning = Single
		case t.physical == format.Int96: // the times of old writers, which are in UTC
			t.Meaning, t.PerDay = Instant, secondsOfDay
		case !fixed: // bytes of a fixed length are no text
			t.Meaning = Plain
		}
	case *format.StringType, *format.EnumType, *format.JsonType:
		if fixed || t.physical == format.ByteArray {
			t.Meaning = Plain
		}
	case *format.IntType:
		t.unsigned = !l.IsSigned
		switch {
		case t.unsigned && t.physical == format.Int64:
			t.Meaning = Unsigned
		case integers:
			t.Meaning = Plain
		}
	case *format.DateType:
		if t.physical == format.Int32 {
			t.Meaning = Day
		}
	case *format.TimestampType:
		if t.physical == format.Int64 && l.Unit.Value != nil {
			t.Meaning, t.PerDay = Local, secondsOfDay*(1e9/int64(l.Unit.Value.Duration()))
			if l.IsAdjustedToUTC {
				t.Meaning = Instant
			}
		}
	case *format.DecimalType:
		if (integers || fixed && t.length <= widest || t.physical == format.ByteArray) && l.Scale >= 0 && l.Scale <= 76 {
			t.Meaning, t.Scale = Decimal, int(l.Scale)
		}
	case *format.NullType:
		t.Meaning = Null
	case *format.UUIDType:
		if fixed && t.length == uuidLength {
			t.Meaning = Plain
		}
	case *format.Float16Type:
		if fixed && t.length == 2 {
			t.Meaning = Single
		}
	}
	return t
}

const (
	secondsOfDay = 24 * 60 * 60
	uuidLength   = 16
)

// interval is the one type that has a converted type alone.
type interval struct{ format.NullType }

func (*interval) String() string { return "INTERVAL" }

// logicalOf returns the logical type of a column, also if an old writer gave only a converted type.
func logicalOf(e *format.SchemaElement) format.LogicalTypeValue {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	switch kind := e.ConvertedType.V; kind {
	case deprecated.UTF8:
		return new(format.StringType)
	case deprecated.Enum:
		return new(format.EnumType)
	case deprecated.Json:
		return new(format.JsonType)
	case deprecated.Bson:
		return new(format.BsonType)
	case deprecated.List:
		return new(format.ListType)
	case deprecated.Map, deprecated.MapKeyValue:
		return new(format.MapType)
	case deprecated.Date:
		return new(format.DateType)
	case deprecated.Decimal:
		return &format.DecimalType{Scale: e.Scale.V, Precision: e.Precision.V}
	case deprecated.TimeMillis:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MilliSeconds)}}
	case deprecated.TimeMicros:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}
	case deprecated.TimestampMillis:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MilliSeconds)}}
	case deprecated.TimestampMicros:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{BitWidth: 8 << (kind - deprecated.Uint8)}
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return &format.IntType{BitWidth: 8 << (kind - deprecated.Int8), IsSigned: true}
	case deprecated.Interval:
		return new(interval)
	}
	return nil
}

// describe returns the name of a type as tools that show a Parquet file write it.
func (t *Type) describe(e *format.SchemaElement) string {
	adjusted := map[bool]string{true: "UTC", false: "local"}
	unit := func(u format.TimeUnit) string {
		if u.Value == nil {
			return "?"
		}
		return map[int64]string{1e6: "ms", 1e3: "us", 1: "ns"}[int64(u.Value.Duration())]
	}
	switch l := t.logical.(type) {
	case nil:
	case *format.IntType:
		if l.IsSigned {
			return fmt.Sprintf("int%d", l.BitWidth)
		}
		return fmt.Sprintf("uint%d", l.BitWidth)
	case *format.TimestampType:
		return fmt.Sprintf("TIMESTAMP(%s, %s)", unit(l.Unit), adjusted[l.IsAdjustedToUTC])
	case *format.TimeType:
		return fmt.Sprintf("TIME(%s, %s)", unit(l.Unit), adjusted[l.IsAdjustedToUTC])
	default:
		return l.String()
	}
	switch {
	case e.RepetitionType.V == format.Repeated:
		return "LIST"
	case !e.Type.Valid:
		return "STRUCT"
	case t.physical == format.FixedLenByteArray:
		return fmt.Sprintf("fixed_len_byte_array(%d)", t.length)
	}
	return strings.ToLower(t.physical.String())
}

// Kind returns the slice of values that cells of the type are in.
func (t Type) Kind() Kind {
	switch t.physical {
	case format.Int32, format.Int64, format.Int96:
		return Ints
	case format.Float, format.Double:
		return Floats
	case format.Boolean:
		return Truths
	case format.FixedLenByteArray:
		if t.Meaning == Single {
			return Floats
		}
	}
	return Texts
}

// size returns the size of a value in bytes; 0 for a Boolean and for texts of any length.
func (t Type) size() int {
	switch t.physical {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return t.length
	}
	return 0
}

// hasBytes reports whether values are arrays of bytes.
func (t Type) hasBytes() bool {
	return t.physical == format.ByteArray || t.physical == format.FixedLenByteArray
}

// convert makes values of the type's kind of the bytes that were read as texts.
func (v *valueReader) convert() error {
	raw, out := v.out.Texts, &v.out
	if v.t.physical == format.FixedLenByteArray {
		for _, b := range raw {
			if len(b) != v.t.length {
				return ErrValues
			}
		}
	}
	_, uuid := v.t.logical.(*format.UUIDType)
	switch {
	case v.t.physical == format.Int96:
		out.Ints = resizeSlice(out.Ints, len(raw))
		for i, b := range raw {
			const epoch = 2440588 // the Julian day of 1970-01-01
			day := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - epoch
			out.Ints[i] = day*secondsOfDay + floorDivide(int64(binary.LittleEndian.Uint64(b)), 1e9)
			if out.Ints[i] == floorDivide(NoTime, 1e9) {
				out.Ints[i] = NoTime
			}
		}
	case out.Kind == Floats && v.t.hasBytes():
		out.Floats = resizeSlice(out.Floats, len(raw))
		for i, b := range raw {
			out.Floats[i] = half(binary.LittleEndian.Uint16(b))
		}
	case uuid:
		const length = uuidLength*2 + 4
		v.spelt = resizeSlice(v.spelt, len(raw)*length)
		for i, b := range raw {
			to := v.spelt[i*length : i*length : (i+1)*length]
			raw[i] = fmt.Appendf(to, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	}
	return nil
}

// half returns a float of 16 bits.
func half(bits uint16) float64 {
	sign, exponent, fraction := float64(1), int(bits>>10&31), float64(bits&1023)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return math.Copysign(math.Ldexp(fraction, -24), sign)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Unscaled returns the number in a decimal's bytes, the highest first, if it has at most 64 bits.
func Unscaled(b []byte) (x int64, ok bool) {
	if len(b) == 0 || len(b) > widest {
		return 0, false
	}
	x = int64(int8(b[0]))
	for _, next := range b[1:] {
		if x != x<<8>>8 {
			return 0, false
		}
		x = x<<8 | int64(next)
	}
	return x, true
}

// AppendDigits writes a decimal with scale digits after the point. It writes nothing if the bytes are
// not a decimal's.
func AppendDigits(to, b []byte, scale int) []byte {
	if len(b) == 0 || len(b) > widest {
		return to
	}
	x := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	digits := x.Append(make([]byte, 0, 80), 10)
	return AppendPoint(to, digits, scale)
}

// AppendPoint writes the digits of an integer, which may have a sign, with a point before the last scale digits.
func AppendPoint(to, digits []byte, scale int) []byte {
	if digits[0] == '-' {
		to, digits = append(to, '-'), digits[1:]
	}
	if scale == 0 {
		return append(to, digits...)
	}
	if len(digits) <= scale {
		to = append(to, '0')
	} else {
		to, digits = append(to, digits[:len(digits)-scale]...), digits[len(digits)-scale:]
	}
	to = append(to, '.')
	for range scale - len(digits) {
		to = append(to, '0')
	}
	return append(to, digits...)
}
