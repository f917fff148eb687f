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
	if x, ok = parseShort(text); ok {
		return x, true
	}
	if !isDecimal(text) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	return x, err == nil
}

// parseShort reads a number of at most 15 digits without an exponent. The digits and the power of ten
// are exact as float64, so that the quotient is the nearest one to the number, as strconv returns it.
func parseShort[T string | []byte](text T) (x float64, ok bool) {
	i, digits, fraction := 0, 0, -1
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		i = 1
	}
	whole := 0
	for ; i < len(text); i++ {
		if d := text[i] - '0'; d <= 9 {
			whole = 10*whole + int(d)
			digits++
		} else if text[i] == '.' && fraction < 0 {
			fraction = digits
		} else {
			return 0, false
		}
	}
	if digits == 0 || digits > 15 {
		return 0, false
	}
	x = float64(whole)
	if fraction >= 0 {
		x /= powers[digits-fraction]
	}
	if text[0] == '-' {
		x = -x
	}
	return x, true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

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
