// SPDX-License-Identifier: Apache-2.0

package column

import "math"

// In lists of numbers during processing, a mark is a number far outside all bounds, which no amount
// can be. A Column stores marks separately, so that none can be mistaken for an amount.
var firstMark = math.Float64frombits(math.Float64bits(math.MaxFloat64) - math.MaxUint8)

// MarkNumber encodes mark k, from 1 to 255, as a number.
func MarkNumber(k uint8) float64 {
	return math.Float64frombits(math.Float64bits(firstMark) + uint64(k))
}

// MarkOf returns the mark that a number encodes; 0 for an amount.
func MarkOf(x float64) uint8 {
	if x < firstMark {
		return 0
	}
	return uint8(math.Float64bits(x) - math.Float64bits(firstMark))
}

// MarkedValue returns the value of a code of a number column, either its amount or its encoded mark.
func (c *Column) MarkedValue(code uint32) float64 {
	if c.Marks != nil && c.Marks[code] > 0 {
		return MarkNumber(c.Marks[code])
	}
	return c.Values[code]
}

// TakeMarks moves marks from the values of a column to Marks. amount replaces them in the values.
func (c *Column) TakeMarks(amount float64) {
	c.Marks = make([]uint8, len(c.Values))
	for code, x := range c.Values {
		if c.Marks[code] = MarkOf(x); c.Marks[code] > 0 {
			c.Values[code] = amount
		}
	}
}
