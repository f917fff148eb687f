// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// Forget removes numbers that no row of t holds from t's dictionaries, and sorts these. After it, a
// Subset is a function of its own rows, which proofs about training on some of the rows need. Time and
// memory are linear in the rows, and slightly more than linear in the distinct numbers.
func (t *Table) Forget() {
	for j, c := range t.Cols {
		if c.Values != nil {
			t.Cols[j] = ownDictionary(c)
		}
	}
}

// ownDictionary returns a number column with the dictionary of its own cells, ascending.
func ownDictionary(c column.Column) column.Column {
	codes := make([]uint32, c.Codes.Len())
	c.Codes.Read(0, codes)
	seen := make([]bool, len(c.Values))
	for _, code := range codes {
		seen[code] = true
	}
	var used []uint32
	for code, is := range seen {
		if is {
			used = append(used, uint32(code))
		}
	}
	var marks []uint8
	if c.Marks != nil {
		marks = make([]uint8, len(used))
	}
	slices.SortFunc(used, func(a, b uint32) int {
		if c.Marks != nil && c.Marks[a] != c.Marks[b] {
			return cmp.Compare(c.Marks[a], c.Marks[b])
		}
		return cmp.Compare(c.Values[a], c.Values[b])
	})
	to := make([]uint32, len(c.Values))
	values := make([]float64, len(used))
	for i, code := range used {
		to[code], values[i] = uint32(i), c.Values[code]
		if c.Marks != nil {
			marks[i] = c.Marks[code]
		}
	}
	for i, code := range codes {
		codes[i] = to[code]
	}
	return column.Column{Codes: column.Narrow(codes, len(values)), Values: values, Marks: marks}
}
