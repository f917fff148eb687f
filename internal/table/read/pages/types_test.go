// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// typeFor is the type of a required column.
func typeFor(physical format.Type, length int32, logical format.LogicalTypeValue) Type {
	return typeOf(&format.SchemaElement{Type: thrift.New(physical), TypeLength: thrift.New(length),
		LogicalType: format.LogicalType{Value: logical}})
}

// readPlain reads one value.
func readPlain(t *testing.T, of Type, data []byte) *Values {
	t.Helper()
	v, err := newValueReader(of, format.Plain, data, 1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.nextValues(1)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Decimals of all lengths have the digits that exact integers have.
func TestDigitsOfDecimals(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for length := 1; length <= widest; length++ {
		for turn := range 40 {
			b := make([]byte, length)
			for i := range b {
				b[i] = []byte{0, 0xff, 0x80, 0x7f, byte(random.Uint32())}[min(4, (turn+i*(turn%3))%7)]
			}
			exact := new(big.Int).SetBytes(b)
			if b[0] >= 0x80 {
				exact.Sub(exact, new(big.Int).Lsh(big.NewInt(1), uint(8*length)))
			}
			x, ok := Unscaled(b)
			if ok != exact.IsInt64() || ok && x != exact.Int64() {
				t.Fatalf("%x is %d, %v; want %v", b, x, ok, exact)
			}
			for _, scale := range []int{0, 1, 18, 76} {
				got := string(AppendDigits(nil, b, scale))
				want := new(big.Rat).SetFrac(exact, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
				if got != want {
					t.Fatalf("%x with %d digits after the point is %s, want %s", b, scale, got, want)
				}
			}
		}
	}
	for _, b := range [][]byte{nil, make([]byte, widest+1)} {
		if _, ok := Unscaled(b); ok || len(AppendDigits(nil, b, 2)) > 0 {
			t.Errorf("%d bytes are a decimal", len(b))
		}
	}
}

func TestHalves(t *testing.T) {
	for _, c := range []struct {
		bits uint16
		want float64
	}{{0, 0}, {1, 0x1p-24}, {0x03ff, 1023 * 0x1p-24}, {0x0400, 0x1p-14}, {0x3555, 0.333251953125}, {0x3c00, 1}, {0xc000, -2},
		{0x7bff, 65504}, {0x7c00, math.Inf(1)}, {0xfc00, math.Inf(-1)}} {
		if got := half(c.bits); got != c.want {
			t.Errorf("%04x is %v, want %v", c.bits, got, c.want)
		}
	}
	if !math.IsNaN(half(0x7e01)) || !math.Signbit(half(0x8000)) {
		t.Error("7e01 is a number, or 8000 has no sign")
	}
}

// Times have the day that contains them, before 1970 and beyond what nanoseconds of 64 bits hold, too.
func TestDaysOfTimes(t *testing.T) {
	int96 := func(julian int32, nanos int64) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(nanos)), uint32(julian))
	}
	old := typeFor(format.Int96, 0, nil)
	for _, c := range []struct {
		julian int32
		nanos  int64
		want   int64
	}{{2440588, 0, 0}, {2440588, 86400e9 - 1, 0}, {2440588, -1, -1}, {2440588, 86400e9, 1}, {2440587, 5, -1}, {0, 0, -2440588},
		{math.MaxInt32, 0, math.MaxInt32 - 2440588}, {math.MinInt32, 0, math.MinInt32 - 2440588}} {
		if got := old.Day(readPlain(t, old, int96(c.julian, c.nanos)).Ints[0]); got != c.want {
			t.Errorf("day %d and %d ns: day %d, want %d", c.julian, c.nanos, got, c.want)
		}
	}
	for _, unit := range []format.TimeUnitValue{new(format.MilliSeconds), new(format.MicroSeconds), new(format.NanoSeconds)} {
		of := typeFor(format.Int64, 0, &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: unit}})
		perDay := int64(24 * 3600 * 1e9 / unit.Duration().Nanoseconds())
		for _, c := range [][2]int64{{0, 0}, {-1, -1}, {perDay - 1, 0}, {perDay, 1}, {-perDay, -1}, {-perDay - 1, -2}} {
			seconds := of.Seconds(c[0])
			if after := c[0]*unit.Duration().Nanoseconds() - seconds*1e9; of.Meaning != Instant || of.Day(c[0]) != c[1] ||
				after < 0 || after >= 1e9 {
				t.Errorf("%s: %d is second %d on day %d, want day %d", of.Name, c[0], seconds, of.Day(c[0]), c[1])
			}
		}
	}
}

func TestFractionsOfSeconds(t *testing.T) {
	of := typeFor(format.Int64, 0, &format.TimestampType{Unit: format.TimeUnit{Value: new(format.MicroSeconds)}})
	for x, want := range map[int64]string{0: "", 1: ".000001", 250_000: ".25", -1: ".999999", -1_000_000: "", 2_000_100: ".0001"} {
		if got := of.Fraction(x); got != want {
			t.Errorf("%d microseconds: %q, want %q", x, got, want)
		}
	}
}

// A column's position counts the leaves of groups before it, and a schema may claim no more than it has.
func TestColumnsOfSchemas(t *testing.T) {
	group := func(name string, children int32) format.SchemaElement {
		return format.SchemaElement{Name: name, NumChildren: thrift.New(children)}
	}
	leaf := func(name string) format.SchemaElement {
		return format.SchemaElement{Name: name, Type: thrift.New(format.Int32)}
	}
	columns, err := Columns([]format.SchemaElement{group("root", 3), group("g", 2), leaf("x"), group("h", 1), leaf("y"),
		group("empty", 0), leaf("z")})
	if err != nil || len(columns) != 3 || columns[2].Name != "z" || columns[2].Leaf != 2 {
		t.Errorf("columns %+v, error %v", columns, err)
	}
	for _, s := range [][]format.SchemaElement{{}, {group("root", 2), leaf("x")}, {group("root", 1), group("g", 2), leaf("x")},
		{group("root", 1), group("g", -1)}, {group("root", math.MaxInt32), group("g", math.MaxInt32), leaf("x")}} {
		if _, err := Columns(s); err == nil {
			t.Errorf("a schema of %d elements that claims more is let through", len(s))
		}
	}
}

func TestBoundsOfIntegers(t *testing.T) {
	for _, c := range []struct {
		of          Type
		least, most int64
	}{
		{typeFor(format.Int32, 0, nil), math.MinInt32, math.MaxInt32},
		{typeFor(format.Int64, 0, nil), math.MinInt64, math.MaxInt64},
		{typeFor(format.Int32, 0, &format.IntType{BitWidth: 8, IsSigned: true}), -128, 127},
		{typeFor(format.Int32, 0, &format.IntType{BitWidth: 16}), 0, 1<<16 - 1},
		{typeFor(format.Int32, 0, &format.IntType{BitWidth: 32}), 0, 1<<32 - 1},
		{typeFor(format.Int64, 0, &format.IntType{BitWidth: 64}), 0, 0},
		{typeFor(format.Int32, 0, &format.IntType{BitWidth: -8}), 0, 0},
		{typeFor(format.Double, 0, nil), 0, 0},
		{typeFor(format.Int32, 0, &format.DecimalType{Precision: 9, Scale: 2}), -9_999_999, 9_999_999},
		{typeFor(format.Int32, 0, &format.DecimalType{Precision: 2, Scale: 2}), 0, 0},
		{typeFor(format.ByteArray, 0, &format.DecimalType{Precision: 38, Scale: 2}), 0, 0},
	} {
		if least, most := c.of.Bounds(); least != c.least || most != c.most {
			t.Errorf("%s: %d to %d, want %d to %d", c.of.Name, least, most, c.least, c.most)
		}
	}
}

// FuzzTypes feeds values of every type in every encoding, which must neither fail on their own bounds
// nor take more room than their bytes stand for.
func FuzzTypes(f *testing.F) {
	utc := format.TimeUnit{Value: new(format.MicroSeconds)}
	types := []Type{typeFor(format.Int96, 0, nil), typeFor(format.FixedLenByteArray, 16, new(format.UUIDType)),
		typeFor(format.FixedLenByteArray, 2, new(format.Float16Type)),
		typeFor(format.FixedLenByteArray, 9, &format.DecimalType{Scale: 2, Precision: 20}),
		typeFor(format.ByteArray, 0, &format.DecimalType{Scale: 2, Precision: 20}),
		typeFor(format.Int64, 0, &format.TimestampType{Unit: utc}), typeFor(format.Int32, 0, new(format.NullType)),
		typeFor(format.FixedLenByteArray, 1<<30, new(format.NullType))}
	encodings := []format.Encoding{format.Plain, format.RLE, format.DeltaBinaryPacked, format.DeltaLengthByteArray,
		format.DeltaByteArray, format.ByteStreamSplit}
	uuids := []string{strings.Repeat("a", 16), strings.Repeat("a", 15) + "b"}
	f.Add([]byte(strings.Join(uuids, "")), byte(1), byte(0))
	f.Add(encodeTexts(f, format.DeltaByteArray, uuids), byte(1), byte(4))
	f.Add(encodeTexts(f, format.DeltaLengthByteArray, []string{"", "\x80", strings.Repeat("\xff", 40)}), byte(4), byte(3))
	f.Add(make([]byte, 27), byte(3), byte(5))
	f.Fuzz(func(t *testing.T, data []byte, kind, encoding byte) {
		of := types[int(kind)%len(types)]
		const most = 300
		took := memoryOf(func() {
			v, err := newValueReader(of, encodings[int(encoding)%len(encodings)], slices.Clone(data), most)
			for n := 1; err == nil && n < most; n++ {
				var out *Values
				if out, err = v.nextValues(1); err != nil {
					break
				}
				for _, b := range out.Texts {
					if of.Meaning == Decimal {
						_, isNumber := strconv.ParseFloat(string(AppendDigits(nil, b, of.Scale)), 64)
						if (isNumber == nil) != (len(b) > 0 && len(b) <= widest) {
							t.Errorf("%x is no decimal", b)
						}
					}
				}
			}
		})
		if limit := uint64(1<<20 + 5*most*len(data)); took > limit {
			t.Errorf("%d bytes took %d bytes of memory, more than %d", len(data), took, limit)
		}
	})
}
