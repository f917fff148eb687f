// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// prefix is the prefix of the values of a level.
type prefix struct {
	text string
	code uint32
}

// listPrefixes lists the prefixes of all levels, the longest first.
func listPrefixes(levels []schema.Level) (out []prefix) {
	for code, l := range levels {
		for _, text := range l.Prefixes {
			out = append(out, prefix{text, uint32(code)})
		}
	}
	slices.SortStableFunc(out, func(a, b prefix) int { return cmp.Compare(len(b.text), len(a.text)) })
	return out
}

// bucketOf returns the bucket, from 0, of a value among n: FNV-1a of 64 bits over the text's bytes,
// modulo n. It is public, and no secret depends on it.
func bucketOf[T string | []byte](value T, n int) int {
	h := uint64(14695981039346656037)
	for i := range len(value) {
		h = (h ^ uint64(value[i])) * 1099511628211
	}
	return int(h % uint64(n))
}

// parseNumber parses a date, or a number in the format of the file's dialect.
func parseNumber[T string | []byte](c *Coder, cell T) (x float64, ok bool) {
	if c.date != "" {
		days, ok := schema.ParseDate(c.date, cell)
		return float64(days - c.since), ok
	}
	if !c.comma {
		return ParseDecimal(cell)
	}
	return ParseComma(cell)
}

// ParseComma is ParseDecimal for a text of at most 64 bytes with a decimal comma. A point is refused,
// since it may separate thousands.
func ParseComma[T string | []byte](text T) (x float64, ok bool) {
	var room [64]byte
	b := append(room[:0], text...)
	if len(b) > len(room) || bytes.IndexByte(b, '.') >= 0 {
		return 0, false
	}
	if i := bytes.IndexByte(b, ','); i >= 0 {
		b[i] = '.'
	}
	return ParseDecimal(b)
}
