// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"math"
	"slices"
)

// numbers assigns codes 0, 1, 2, ... to distinct finite numbers in the order of their first
// appearance. It is a hash table with open addressing, because a Go map takes several times as long
// per cell.
type numbers struct {
	values []float64
	slots  []uint32 // code+1, or 0 for a free slot; length a power of two
	shift  uint     // 64 - log2(len(slots))
}

func (t *numbers) codeOf(x float64) uint32 {
	if 2*len(t.values) >= len(t.slots) {
		t.rehash()
	}
	mask := uint32(len(t.slots) - 1)
	for i := t.slotOf(x); ; i = (i + 1) & mask {
		at := t.slots[i]
		if at == 0 {
			code := uint32(len(t.values))
			t.values = append(t.values, x)
			t.slots[i] = code + 1
			return code
		}
		if t.values[at-1] == x {
			return at - 1
		}
	}
}

// slotOf mixes all bits of x into the top bits, because small integers differ only in a few middle
// bits.
func (t *numbers) slotOf(x float64) uint32 {
	h := math.Float64bits(x)
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio (Knuth 6.4)
	return uint32(h >> t.shift)
}

func (t *numbers) rehash() {
	if t.slots == nil {
		t.slots, t.shift = make([]uint32, 64), 64-6
	} else {
		t.slots, t.shift = make([]uint32, 2*len(t.slots)), t.shift-1
	}
	mask := uint32(len(t.slots) - 1)
	for code, x := range t.values {
		i := t.slotOf(x)
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(code) + 1
	}
}

// sortValues returns the values, ascending, and the new code of each old code.
func (t *numbers) sortValues() (values []float64, to []uint32) {
	codes := make([]uint32, len(t.values))
	for i := range codes {
		codes[i] = uint32(i)
	}
	slices.SortFunc(codes, func(a, b uint32) int { return cmp.Compare(t.values[a], t.values[b]) })
	values, to = make([]float64, len(codes)), make([]uint32, len(codes))
	for place, code := range codes {
		values[place], to[code] = t.values[code], uint32(place)
	}
	return values, to
}
