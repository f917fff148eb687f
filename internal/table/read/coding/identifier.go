// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"slices"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// NewIdentifier returns the coder of the column that identifies persons. identify returns the code of an
// identifier in the one form that all its spellings have, and of an empty one for a missing cell.
func NewIdentifier(p *schema.Person, d *schema.Dialect, identify func(form []byte) uint32) *Coder {
	c := &Coder{Name: p.Column, identify: identify, whole: p.Whole, trim: d.Trim, numerals: NumeralsOf(d)}
	for _, sign := range d.Missing {
		c.signs = append(c.signs, string(c.identifierForm([]byte(sign))))
	}
	return c
}

func (c *Coder) readIdentifier(cell []byte) (column.Cell, Fate) {
	form := c.identifierForm(cell)
	if len(form) == 0 || slices.Contains(c.signs, string(form)) {
		return c.ReadMissing()
	}
	return column.Cell{Code: c.identify(form)}, Read
}

// identifierForm returns the form in which an identifier is compared, whatever source it comes from: the
// digits of a whole number, if the schema declares that identifiers are whole numbers, and else the text in
// NFC. Nothing else is taken for the same, since persons who are merged change each other's weights.
func (c *Coder) identifierForm(cell []byte) []byte {
	if c.whole {
		if digits, ok := c.wholeForm(cell); ok {
			return digits
		}
	}
	if isASCII(cell) {
		return cell
	}
	return norm.NFC.Bytes(cell)
}

// wholeForm returns the digits of a whole number: no leading zeros, no exponent, no zeros behind the point,
// and a sign only below 0.
func (c *Coder) wholeForm(cell []byte) (digits []byte, ok bool) {
	text, ok := c.numerals.appendPlain(nil, cell)
	unsigned := bytes.TrimLeft(text, "+-")
	whole, rest, _ := bytes.Cut(unsigned, []byte("."))
	if !ok || len(whole) == 0 || countDigits(whole) < len(whole) || len(bytes.Trim(rest, "0")) > 0 || len(text)-len(unsigned) > 1 {
		return c.wholeDigits(cell) // as 1e+05, which R writes
	}
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		return []byte("0"), true
	}
	if text[0] == '-' {
		whole = append([]byte("-"), whole...)
	}
	return whole, true
}

// appendIdentifier writes a float as the digits that an integer or a decimal of the same value has.
func appendIdentifier(to []byte, x float64, bits int) []byte {
	return strconv.AppendFloat(to, x+0, 'f', -1, bits) // of zeros, the one without a sign
}
