// SPDX-License-Identifier: Apache-2.0

// Package coding interprets cells by the schema: as a number within its bounds, or as a category's
// code. It does not depend on files. Every reader of cells shares it, so that a cell has one meaning
// wherever it comes from.
package coding

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// Cell is a cell of any type. The zero Cell is missing.
type Cell struct {
	form   Form
	text   string
	number float64
	whole  int64 // an integer, a day, 0 or 1, or an instant's seconds since 1970, whose zone is number seconds east
}

// Form is the type of a cell, or of all cells of a column.
type Form uint8

const (
	None    Form = iota // of cells: missing
	Text                // spelled as in a CSV file
	Integer             // its text is its digits
	Float               // its text is the shortest that reads as the same float64
	Single              // the same for float32
	Truth               // its text is false or true
	Day                 // days since 1970-01-01; its text is like 2015-01-31
	Instant             // its day is that of the schema's zone, else of its own
	Decimal             // its text has the digits behind the point that its type declares
	Any                 // of columns: each cell has a form of its own
	Unknown             // a value that is no cell
)

// TextCell is a cell spelled as in a CSV file.
func TextCell(s string) Cell { return Cell{form: Text, text: s} }

// NumberCell is a float64. NaN is a missing cell.
func NumberCell(x float64) Cell { return Cell{form: Float, number: x} }

// SingleCell is a float32. NaN is a missing cell.
func SingleCell(x float32) Cell { return Cell{form: Single, number: float64(x)} }

// IntegerCell is an integer.
func IntegerCell(x int64) Cell { return Cell{form: Integer, whole: x} }

// UnsignedCell is an integer.
func UnsignedCell(x uint64) Cell {
	if int64(x) < 0 {
		return DecimalCell(strconv.FormatUint(x, 10))
	}
	return IntegerCell(int64(x))
}

// TruthCell is a boolean. In a number column it is 0 or 1.
func TruthCell(b bool) Cell {
	c := Cell{form: Truth}
	if b {
		c.whole = 1
	}
	return c
}

// DayCell is a date, in days since 1970-01-01.
func DayCell(days int) Cell { return Cell{form: Day, whole: int64(days)} }

// InstantCell is a point in time: seconds since 1970, in a zone so many seconds east of UTC.
func InstantCell(seconds int64, east int) Cell {
	return Cell{form: Instant, whole: seconds, number: float64(east)}
}

// DecimalCell is an exact number: digits with an optional sign before and an optional point between
// them, such as -12.50.
func DecimalCell(digits string) Cell { return Cell{form: Decimal, text: digits} }

// UnknownCell is a value that is no cell, such as a list.
func UnknownCell() Cell { return Cell{form: Unknown} }

// ParseNumber reads a number of JSON: an integer of 64 bits exactly, and any other as a float64.
func ParseNumber(token string) (c Cell, ok bool) {
	if x, err := strconv.ParseInt(token, 10, 64); err == nil {
		return IntegerCell(x), true
	}
	if x, err := strconv.ParseUint(token, 10, 64); err == nil {
		return UnsignedCell(x), true
	}
	x, err := strconv.ParseFloat(token, 64)
	return NumberCell(x), err == nil
}

// ReadCell returns the value of a cell and what becomes of it. The value of a number column is a
// number within the bounds or a mark, see TakeMark; that of any other is a code.
func (c *Coder) ReadCell(v Cell) (column.Cell, Fate) {
	switch v.form {
	case Text:
		return ReadText(c, v.text)
	case Integer:
		return c.ReadInteger(v.whole)
	case Float:
		return c.ReadFloat(v.number)
	case Single:
		return c.ReadSingle(float32(v.number))
	case Truth:
		return c.ReadTruth(v.whole == 1)
	case Day:
		return c.ReadDay(int(v.whole))
	case Instant:
		return c.ReadInstant(v.whole, int(v.number))
	case Decimal:
		return ReadDecimal(c, v.text)
	case Unknown:
		return c.readUnknown()
	}
	return c.ReadMissing()
}

func (c *Coder) readUnknown() (column.Cell, Fate) {
	switch {
	case c.identify != nil:
		return c.ReadMissing()
	case c.Number:
		return c.standIn(Unreadable)
	case c.isLabel:
		return codeOrFault(c.unknown, Unreadable)
	}
	return codeOrFault(c.unknown, Other)
}

// Trim removes the spaces and tabs around a text.
func Trim[T string | []byte](text T) T {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}
