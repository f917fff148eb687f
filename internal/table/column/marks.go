// SPDX-License-Identifier: Apache-2.0

package column

import "math"

// In lists of numbers on their way, marks are numbers far beyond all bounds, which amounts never
// are. A Column has them apart, so that no one can take one for an amount.
var firstMark = math.Float64frombits(math.Float64bits(math.MaxFloat64) - math.MaxUint8)

// MarkNumber is mark k, from 1 to 255, as a number on its way.
func MarkNumber(k uint8) float64 {
	return math.Float64frombits(math.Float64bits(firstMark) + uint64(k))
}

// MarkOf is the mark that a number on its way is; 0 for an amount.
func MarkOf(x float64) uint8 {
	if x < firstMark {
		return 0
	}
	return uint8(math.Float64bits(x) - math.Float64bits(firstMark))
}

// MarkedValue is the value of a code of a number column, its amount or its mark, as a
// number on its way.
func (c *Column) MarkedValue(code uint32) float64 {
	if c.Marks != nil && c.Marks[code] > 0 {
		return MarkNumber(c.Marks[code])
	}
	return c.Values[code]
}

// TakeMarks makes the dictionary of a column that has marks of its values, which may
// be marks. amount is what stands for them.
func (c *Column) TakeMarks(amount float64) {
	c.Marks = make([]uint8, len(c.Values))
	for code, x := range c.Values {
		if c.Marks[code] = MarkOf(x); c.Marks[code] > 0 {
			c.Values[code] = amount
		}
	}
}
