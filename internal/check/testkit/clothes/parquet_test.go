// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

func parquetForms() []form {
	return []form{{name: "Parquet", refuses: true, offered: Types()[1:], paths: func(k *kit, t *Table) []string {
		return []string{k.put("t.parquet", writeParquet(k, t))}
	}}}
}

// writeParquet writes a table with types, encodings, pages, row groups and a codec of its own.
func writeParquet(k *kit, t *Table) []byte {
	group, nodes := parquet.Group{}, make([]parquet.Node, len(t.Columns))
	for j := range t.Columns {
		nodes[j] = nodeOf(k, t.Types[j], t.Columns[j].Name == "admitted")
		missing := slices.ContainsFunc(t.Values, func(row []any) bool { return row[j] == nil })
		group[t.Columns[j].Name] = parquet.Required(nodes[j])
		if optional := k.src.IntN(2) == 0; optional || missing {
			group[t.Columns[j].Name] = parquet.Optional(nodes[j])
		}
	}
	one := func(kind parquet.Kind, of ...encoding.Encoding) parquet.WriterOption {
		return parquet.DefaultEncodingFor(kind, pick(k, append(of, &parquet.Plain, &parquet.RLEDictionary)...))
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("t", group),
		one(parquet.ByteArray, &parquet.DeltaByteArray, &parquet.DeltaLengthByteArray), one(parquet.Double, &parquet.ByteStreamSplit),
		one(parquet.Float, &parquet.ByteStreamSplit), one(parquet.Int32, &parquet.DeltaBinaryPacked), one(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.DefaultEncodingFor(parquet.Boolean, pick[encoding.Encoding](k, &parquet.Plain, &parquet.RLE)),
		parquet.DataPageVersion(pick(k, 1, 2)), parquet.PageBufferSize(pick(k, 16, 300, 1<<20)), parquet.DictionaryMaxBytes(pick[int64](k, 0, 0, 20)),
		parquet.MaxRowsPerRowGroup(pick[int64](k, 2, 1000)), parquet.Compression(pick[compress.Codec](k, &parquet.Uncompressed, &parquet.Snappy,
			&parquet.Zstd, &parquet.Gzip, &parquet.Lz4Raw, &parquet.Brotli)))
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	slices.Sort(names) // as a Group has them
	for _, row := range t.Values {
		cells := make(parquet.Row, len(row))
		for j := range row {
			value, at := parquet.Value{}, slices.Index(names, t.Columns[j].Name)
			if row[j] != nil {
				value = valueOf(nodes[j], row[j])
			}
			defined := 0
			if row[j] != nil && group[t.Columns[j].Name].Optional() {
				defined = 1
			}
			cells[at] = value.Level(0, defined, at)
		}
		if _, err := w.WriteRows([]parquet.Row{cells}); err != nil {
			k.Fatal(err)
		}
	}
	k.must(w.Close())
	return b.Bytes()
}

// nodeOf is a Parquet type for a type. Days are far if nanoseconds of 64 bits do not reach them.
func nodeOf(k *kit, of Type, far bool) parquet.Node {
	switch of.Form {
	case coding.Text:
		return pick(k, parquet.String(), parquet.Leaf(parquet.ByteArrayType), parquet.Enum())
	case coding.Float:
		return parquet.Leaf(parquet.DoubleType)
	case coding.Single:
		return parquet.Leaf(parquet.FloatType)
	case coding.Truth:
		return parquet.Leaf(parquet.BooleanType)
	case coding.Day:
		return parquet.Date()
	case coding.Instant:
		units := []parquet.TimeUnit{parquet.Millisecond, parquet.Microsecond, parquet.Nanosecond}
		if far {
			units = units[:2]
		}
		return parquet.TimestampAdjusted(pick(k, units...), k.src.IntN(2) == 0)
	case coding.Decimal:
		physical := []parquet.Type{parquet.FixedLenByteArrayType(16), parquet.ByteArrayType}
		if of.Precision == 18 {
			physical = append(physical, parquet.Int64Type)
		}
		if of.Precision <= 9 {
			physical = append(physical, parquet.Int32Type)
		}
		return parquet.Decimal(of.Scale, of.Precision, pick(k, physical...))
	case coding.Integer:
		switch {
		case of.Unsigned:
			return parquet.Uint(of.Bits)
		case of.Bits >= 32 && k.src.IntN(2) == 0:
			return parquet.Leaf([]parquet.Type{parquet.Int32Type, parquet.Int64Type}[of.Bits/64])
		}
		return parquet.Int(of.Bits)
	}
	panic(of)
}

// valueOf is a cell as the node's physical type has it.
func valueOf(n parquet.Node, v any) parquet.Value {
	whole := func(x int64) parquet.Value {
		switch n.Type().Kind() {
		case parquet.Int32:
			return parquet.Int32Value(int32(x))
		case parquet.Int64:
			return parquet.Int64Value(x)
		}
		var b [16]byte
		big.NewInt(0).And(big.NewInt(x), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))).FillBytes(b[:])
		if n.Type().Kind() == parquet.FixedLenByteArray {
			return parquet.FixedLenByteArrayValue(b[:])
		}
		return parquet.ByteArrayValue(b[:])
	}
	switch v := v.(type) {
	case string:
		return parquet.ByteArrayValue([]byte(v))
	case float64:
		return parquet.DoubleValue(v)
	case float32:
		return parquet.FloatValue(v)
	case bool:
		return parquet.BooleanValue(v)
	case int64:
		return whole(v)
	case uint64:
		return whole(int64(v))
	case Day:
		return whole(int64(v))
	case time.Time:
		unit := n.Type().LogicalType().Value
		switch text := fmt.Sprint(unit); {
		case strings.Contains(strings.ToUpper(text), "MILLI"):
			return whole(v.UnixMilli())
		case strings.Contains(strings.ToUpper(text), "MICRO"):
			return whole(v.UnixMicro())
		}
		return whole(v.UnixNano())
	case Digits:
		digits := new(big.Int)
		if _, ok := digits.SetString(strings.ReplaceAll(string(v), ".", ""), 10); !ok {
			panic(v)
		}
		if digits.IsInt64() {
			return whole(digits.Int64())
		}
		b := make([]byte, 16)
		return map[bool]func([]byte) parquet.Value{true: parquet.FixedLenByteArrayValue, false: parquet.ByteArrayValue}[n.Type().Kind() == parquet.FixedLenByteArray](digits.FillBytes(b))
	}
	panic(math.NaN())
}
