// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"math"
	"strconv"
)

// ParseDecimal reads a number in the strict grammar
//
//	[+-] digits [. digits] [e [+-] digits]
//
// with at least one digit before or after the point. It refuses other forms that strconv accepts
// (hexadecimal, underscores, inf, nan) and numbers beyond the range of float64. The result is finite.
func ParseDecimal[T string | []byte](text T) (x float64, ok bool) {
	if !isDecimal(text) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	return x, err == nil
}

func isDecimal[T string | []byte](text T) bool {
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	whole := countDigits(text[i:])
	i += whole
	fraction := 0
	if i < len(text) && text[i] == '.' {
		i++
		fraction = countDigits(text[i:])
		i += fraction
	}
	if whole+fraction == 0 {
		return false
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		digits := countDigits(text[i:])
		if digits == 0 {
			return false
		}
		i += digits
	}
	return i == len(text)
}

func countDigits[T string | []byte](text T) (n int) {
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

// parseNumber parses a date, or a number in the format of the file's dialect.
func parseNumber[T string | []byte](c *Coder, cell T) (x float64, ok bool) {
	if c.date != "" {
		days, ok := parseDate(c, cell)
		return float64(days - c.since), ok
	}
	return ParseText(&c.numerals, cell)
}

// AppendDecimal formats a number in plain decimal notation, unless it is very large or small, with as
// many digits as are needed to read back the same number.
func AppendDecimal(to []byte, x float64) []byte { return appendDecimal(to, x, 64) }

func appendDecimal(to []byte, x float64, bits int) []byte {
	format := byte('f')
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(to, x, format, -1, bits)
}
