// SPDX-License-Identifier: Apache-2.0

// Package column holds cells as small integer codes.
package column

// Column holds the cells of one column of a table.
type Column struct {
	Codes Codes
	// Values is a number column's dictionary: the cell with code c is
	// Values[c], already clamped to the declared bounds and not yet
	// transformed. It is nil for categories, whose codes are the schema's.
	Values []float64
	// Marks holds the mark of each code in a number column that declares marks; 0 is an amount. The
	// value of a marked code is the column's default, so that code which ignores marks treats a marked
	// cell as the default.
	Marks []uint8
}

// Pick returns the column of the given rows, in the given order, with c's dictionary.
func (c *Column) Pick(rows []int) Column {
	return Column{Codes: c.Codes.Pick(rows), Values: c.Values, Marks: c.Marks}
}

// Cell returns the cell of row i; the zero Cell of a column that was not read.
func (c *Column) Cell(i int) Cell {
	if c.Codes.Len() == 0 {
		return Cell{}
	}
	code := c.Codes.At(i)
	if c.Values == nil {
		return Cell{Code: code}
	}
	v := Cell{Number: c.Values[code]}
	if c.Marks != nil {
		v.Code = uint32(c.Marks[code])
	}
	return v
}

// Codes holds one unsigned integer per row, in the narrowest width that fits. At most one slice is
// set.
type Codes struct {
	U8  []uint8
	U16 []uint16
	U32 []uint32
}

// Len is the number of codes.
func (c *Codes) Len() int { return len(c.U8) + len(c.U16) + len(c.U32) }

// Run returns the codes of rows from..to-1. It shares memory with c.
func (c *Codes) Run(from, to int) Codes {
	switch {
	case c.U8 != nil:
		return Codes{U8: c.U8[from:to:to]}
	case c.U16 != nil:
		return Codes{U16: c.U16[from:to:to]}
	}
	return Codes{U32: c.U32[from:to:to]}
}

// At returns the code of row i. For loops over many rows, use Read.
func (c *Codes) At(i int) uint32 {
	switch {
	case c.U8 != nil:
		return uint32(c.U8[i])
	case c.U16 != nil:
		return uint32(c.U16[i])
	default:
		return c.U32[i]
	}
}

// Read copies the codes of rows from, from+1, ... into out.
func (c *Codes) Read(from int, out []uint32) {
	switch {
	case c.U8 != nil:
		widenCodes(out, c.U8[from:])
	case c.U16 != nil:
		widenCodes(out, c.U16[from:])
	default:
		copy(out, c.U32[from:])
	}
}

// Look writes to[c] to out for the codes c of rows from, from+1, ...
func (c *Codes) Look(from int, to, out []uint32) {
	switch {
	case c.U8 != nil:
		lookUp(out, c.U8[from:], to)
	case c.U16 != nil:
		lookUp(out, c.U16[from:], to)
	default:
		lookUp(out, c.U32[from:], to)
	}
}

// Mix replaces out[i] by out[i]·size plus the code of row from+i. It thereby combines several codes
// into one number, if each is below its size.
func (c *Codes) Mix(from int, size uint32, out []uint32) {
	switch {
	case c.U8 != nil:
		mixCodes(out, c.U8[from:], size)
	case c.U16 != nil:
		mixCodes(out, c.U16[from:], size)
	default:
		mixCodes(out, c.U32[from:], size)
	}
}

// Recode replaces each code c by to[c], in place. No new code may need a larger width than the storage
// has.
func (c *Codes) Recode(to []uint32) {
	switch {
	case c.U8 != nil:
		recodeAll(c.U8, to)
	case c.U16 != nil:
		recodeAll(c.U16, to)
	default:
		recodeAll(c.U32, to)
	}
}

// Pick returns the codes of the given rows, in the given order.
func (c *Codes) Pick(rows []int) Codes {
	switch {
	case c.U8 != nil:
		return Codes{U8: pickRows(c.U8, rows)}
	case c.U16 != nil:
		return Codes{U16: pickRows(c.U16, rows)}
	case c.U32 != nil:
		return Codes{U32: pickRows(c.U32, rows)}
	}
	return Codes{}
}

// Narrow stores codes in the narrowest width that holds every code below n.
func Narrow(codes []uint32, n int) Codes {
	switch {
	case n <= 1<<8:
		return Codes{U8: narrowCodes[uint8](codes)}
	case n <= 1<<16:
		return Codes{U16: narrowCodes[uint16](codes)}
	}
	return Codes{U32: append([]uint32{}, codes...)}
}

func widenCodes[T uint8 | uint16](out []uint32, in []T) {
	in = in[:len(out)]
	for i := range out {
		out[i] = uint32(in[i])
	}
}

func lookUp[T uint8 | uint16 | uint32](out []uint32, in []T, to []uint32) {
	in = in[:len(out)]
	for i := range out {
		out[i] = to[in[i]]
	}
}

func mixCodes[T uint8 | uint16 | uint32](out []uint32, in []T, size uint32) {
	in = in[:len(out)]
	for i := range out {
		out[i] = out[i]*size + uint32(in[i])
	}
}

func narrowCodes[T uint8 | uint16](in []uint32) []T {
	out := make([]T, len(in))
	for i, c := range in {
		out[i] = T(c)
	}
	return out
}

func recodeAll[T uint8 | uint16 | uint32](codes []T, to []uint32) {
	for i, c := range codes {
		codes[i] = T(to[c])
	}
}

func pickRows[T any](from []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = from[r]
	}
	return out
}

// Cell is one cell of a single row in the form that classifiers use: a category's code, or a number
// clamped to its declared bounds.
type Cell struct {
	Code   uint32 // for a number, its mark; 0 for an amount
	Number float64
}
