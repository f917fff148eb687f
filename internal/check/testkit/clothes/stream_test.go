// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// streamForms are what the Python package writes.
func streamForms() []form {
	of := func(name string, own bool) form {
		return form{name: name, own: own, refuses: !own, offered: append(Types()[1:], Type{Form: coding.Single, Bits: 16}), read: func(k *kit, t *Table) (*dataset.Table, error) {
			return dataset.Read(k.Context(), k.s, dataset.Options{Stdin: bytes.NewReader(writeStream(k, t, own))}, dataset.Cells)
		}}
	}
	return []form{of("columns of Python", false), of("objects of Python", true)}
}

// letter is the form of a cell in the stream.
func letter(v any) byte {
	switch v.(type) {
	case string:
		return 't'
	case float64:
		return 'f'
	case float32:
		return 's'
	case bool:
		return 'b'
	case int64:
		return 'i'
	case uint64:
		return 'u'
	case Day:
		return 'd'
	case time.Time:
		return 'z'
	case Digits:
		return 'x'
	}
	return '-'
}

func (t Type) letter() byte {
	if t.Unsigned {
		return 'u'
	}
	return map[coding.Form]byte{coding.Text: 't', coding.Float: 'f', coding.Single: 's', coding.Truth: 'b', coding.Integer: 'i', coding.Day: 'd',
		coding.Instant: 'z', coding.Decimal: 'x'}[t.Form]
}

// writeStream writes a table in the format of dataset.Cells, whose columns have types unless own is set.
func writeStream(k *kit, t *Table, own bool) []byte {
	order := binary.LittleEndian
	text := func(b []byte, s string) []byte { return append(order.AppendUint32(b, uint32(len(s))), s...) }
	b := order.AppendUint32([]byte{2}, uint32(len(t.Columns)))
	for j, c := range t.Columns {
		of, form, least, most := t.Types[j], t.Types[j].letter(), int64(0), int64(0)
		if own {
			form = 'a'
		} else if of.isHalf() {
			least, most = -2048, 2048
		} else if of.Form == coding.Integer && of.Unsigned {
			most = math.MaxInt64 >> max(0, 63-of.Bits)
		} else if of.Form == coding.Integer && of.Bits < 64 {
			least, most = -1<<(of.Bits-1), 1<<(of.Bits-1)-1
		} else if whole := of.Precision - of.Scale; of.Form == coding.Decimal && whole < 19 {
			most, _ = strconv.ParseInt(strings.Repeat("9", whole), 10, 64)
			least = -most
		}
		b = text(append(text(b, c.Name), form), of.String())
		b = order.AppendUint32(order.AppendUint64(order.AppendUint64(b, uint64(least)), uint64(most)), uint32(of.Scale))
	}
	for from, to := 0, 0; from < len(t.Values); from = to {
		to = min(len(t.Values), from+1+k.src.IntN(40))
		b = order.AppendUint32(b, uint32(to-from))
		for j := range t.Columns {
			var parts []byte
			var rows []byte
			for _, row := range t.Values[from:to] {
				at := bytes.IndexByte(parts, letter(row[j]))
				if at < 0 {
					at, parts = len(parts), append(parts, letter(row[j]))
				}
				rows = append(rows, byte(at))
			}
			if b = append(append(b, byte(len(parts))), parts...); len(parts) > 1 {
				b = append(b, rows...)
			}
			for i, form := range parts {
				var cells []any
				for r, row := range t.Values[from:to] {
					if rows[r] == byte(i) {
						cells = append(cells, row[j])
					}
				}
				b = appendPart(b, form, cells)
			}
		}
	}
	return order.AppendUint32(b, 0)
}

func appendPart(b []byte, form byte, cells []any) []byte {
	order := binary.LittleEndian
	var texts []string
	var codes []byte
	for _, v := range cells {
		switch v := v.(type) {
		case float64:
			b = order.AppendUint64(b, math.Float64bits(v))
		case float32:
			b = order.AppendUint32(b, math.Float32bits(v))
		case bool:
			b = append(b, map[bool]byte{true: 1}[v])
		case int64:
			b = order.AppendUint64(b, uint64(v))
		case uint64:
			b = order.AppendUint64(b, v)
		case Day:
			b = order.AppendUint64(b, uint64(v))
		case time.Time:
			_, east := v.Zone()
			b = order.AppendUint64(order.AppendUint64(b, uint64(v.Unix())), uint64(east))
		case string, Digits:
			s, _ := v.(string)
			if digits, ok := v.(Digits); ok {
				s = string(digits)
			}
			at := slices.Index(texts, s)
			if at < 0 {
				at, texts = len(texts), append(texts, s)
			}
			codes = order.AppendUint16(codes, uint16(at))
		}
	}
	if strings.IndexByte("tx", form) < 0 {
		return b
	}
	b = append(order.AppendUint32(b, uint32(len(texts))), codes...)
	for _, s := range texts {
		b = append(order.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}
