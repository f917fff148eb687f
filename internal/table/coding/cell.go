// SPDX-License-Identifier: Apache-2.0

// Package coding says what cells mean by the schema: a number within its bounds, or
// a category's code. It knows no file: the loader of tables and the server of models
// share it.
package coding

// Cell is a cell that comes from no file: text, a number, a truth value, or the
// zero Cell, which is missing.
type Cell struct {
	kind   cellKind
	text   string
	number float64
}

type cellKind uint8

const (
	missingCell cellKind = iota
	textCell
	numberCell
	truthCell
)

// TextCell is a cell as a CSV file would spell it.
func TextCell(s string) Cell { return Cell{kind: textCell, text: s} }

// NumberCell is a cell that is a number.
func NumberCell(x float64) Cell { return Cell{kind: numberCell, number: x} }

// TruthCell is a number 0 or 1, or a category "false" or "true".
func TruthCell(b bool) Cell {
	c := Cell{kind: truthCell}
	if b {
		c.number = 1
	}
	return c
}

// CellNumber is the number that a cell of a number column stands for, or a mark; see
// TakeMark.
func (c *Coder) CellNumber(v Cell, trim bool) (x float64, ok bool) {
	switch v.kind {
	case textCell:
		text := v.text
		if trim {
			text = Trim(text)
		}
		return ReadNumber(c, text)
	case numberCell:
		return c.FloatNumber(v.number)
	case truthCell:
		return c.TruthNumber(v.number == 1)
	}
	return c.MissingNumber()
}

// CellCode is the code of a cell of a category column or of a label.
func (c *Coder) CellCode(v Cell, trim bool) (code uint32, ok bool) {
	switch v.kind {
	case textCell:
		text := v.text
		if trim {
			text = Trim(text)
		}
		return ReadCode(c, text)
	case numberCell:
		return c.FloatCode(v.number)
	case truthCell:
		return c.TruthCode(v.number == 1)
	}
	return c.MissingCode()
}

// Trim is text without the spaces and tabs around it.
func Trim[T string | []byte](text T) T {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}
