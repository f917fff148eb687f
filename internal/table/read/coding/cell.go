// SPDX-License-Identifier: Apache-2.0

// Package coding interprets cells by the schema: as a number within its bounds, or as a category's
// code. It does not depend on files: the loader of tables and the server of models share it.
package coding

// Cell is a cell that does not come from a file: text, a number, a boolean, or the zero Cell, which is
// missing.
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

// TextCell is a cell spelled as in a CSV file.
func TextCell(s string) Cell { return Cell{kind: textCell, text: s} }

// NumberCell is a numeric cell.
func NumberCell(x float64) Cell { return Cell{kind: numberCell, number: x} }

// TruthCell is the number 0 or 1 in a number column, and "false" or "true" in a category.
func TruthCell(b bool) Cell {
	c := Cell{kind: truthCell}
	if b {
		c.number = 1
	}
	return c
}

// CellNumber returns the number that a cell of a number column stands for, or a mark; see TakeMark.
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

// CellCode returns the code of a cell of a category column or of a label.
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
