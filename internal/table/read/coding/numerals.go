// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Numerals is how texts write numbers. The zero value is the grammar of ParseDecimal.
type Numerals struct {
	odd       bool     // there is more than the minus sign to translate
	comma     bool     // the decimal sign is a comma
	thousands []string // each may separate groups of three digits of the whole part
	trailing  bool     // the minus sign may stand behind the number
}

// NumeralsOf returns the numerals of a dialect.
func NumeralsOf(d *schema.Dialect) Numerals {
	n := Numerals{comma: d.Decimal == ',', trailing: d.TrailingMinus}
	switch d.Thousands {
	case 0:
	case ' ':
		n.thousands = []string{" ", "\u00a0", "\u202f", "\u2009"} // the others do not break lines
	case '\'':
		n.thousands = []string{"'", "\u2019"}
	default:
		n.thousands = []string{string(d.Thousands)}
	}
	n.odd = n.comma || n.thousands != nil || n.trailing
	return n
}

// ParseText parses a number in these numerals. A minus sign may be U+2212. The result is finite.
func ParseText[T string | []byte](n *Numerals, text T) (x float64, ok bool) {
	if !n.odd {
		if x, ok = ParseDecimal(text); ok || !hasMinusSign(text) {
			return x, ok
		}
	}
	var room [64]byte
	plain, ok := n.appendPlain(room[:0], []byte(text))
	if !ok {
		return 0, false
	}
	return ParseDecimal(plain)
}

const minusSign = "\u2212"

// hasMinusSign reports whether a text may hold a minusSign.
func hasMinusSign[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] == minusSign[0] {
			return true
		}
	}
	return false
}

// appendPlain translates a number into the grammar of ParseDecimal, which is to check the rest: it refuses
// a point beside a decimal comma, separators outside the whole part, and groups of other than three digits
// after the first, which has at most three.
func (n *Numerals) appendPlain(to, text []byte) (plain []byte, ok bool) {
	if n.trailing {
		for _, minus := range []string{"-", minusSign} {
			if number, ok := bytes.CutSuffix(text, []byte(minus)); ok {
				to, text = append(to, '-'), number
				break
			}
		}
	}
	digits, grouped, whole := 0, false, true // digits of the group of the whole part
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c-'0' <= 9 {
			to, digits = append(to, c), digits+1
			continue
		}
		if separator := n.separates(text[i:]); whole && separator > 0 {
			if digits == 0 || digits > 3 || grouped && digits < 3 {
				return nil, false
			}
			digits, grouped = 0, true
			i += separator - 1
			continue
		}
		switch {
		case bytes.HasPrefix(text[i:], []byte(minusSign)):
			c, i = '-', i+len(minusSign)-1
		case c == '.' && n.comma:
			return nil, false
		case c == ',' && n.comma:
			c = '.'
		}
		if isSign := c == '-' || c == '+'; !(isSign && digits == 0 && !grouped) { // the whole part ends
			if whole && grouped && digits != 3 {
				return nil, false
			}
			whole = false
		}
		to = append(to, c)
	}
	return to, !whole || !grouped || digits == 3
}

// separates returns the length of the separator of thousands at the beginning of a text; 0 if there is none.
func (n *Numerals) separates(text []byte) int {
	for _, s := range n.thousands {
		if len(text) >= len(s) && string(text[:len(s)]) == s {
			return len(s)
		}
	}
	return 0
}
