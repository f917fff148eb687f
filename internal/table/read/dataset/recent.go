// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"encoding/binary"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// recent caches the codes of a column's latest cells, at positions that depend on the cells. A lookup
// is faster than coding.
type recent struct {
	integers *[1 << 10]struct {
		cell int64
		code uint32 // plus 1; 0 if the place is free
		fate coding.Fate
	}
	texts *[1 << 8]struct {
		cell [3]uint64 // bytes of the text, and in the last one its length
		code uint32    // plus 1; 0 if the place is free
		fate coding.Fate
	}
}

// codeRecent codes a text that may come again.
func (c *coder) codeRecent(cell []byte) (code uint32, fate coding.Fate) {
	if len(cell) > 23 || c.ids != nil {
		return c.code(coding.ReadText(c.Coder, cell))
	}
	if c.recent.texts == nil {
		allocate(&c.recent.texts)
	}
	text := cell
	if cap(text) < 24 {
		text = append(make([]byte, 0, 24), cell...)
	}
	text = text[:24] // bytes behind the cell do not count
	mask := &masks[len(cell)]
	at := [3]uint64{
		binary.LittleEndian.Uint64(text) & mask[0],
		binary.LittleEndian.Uint64(text[8:]) & mask[1],
		binary.LittleEndian.Uint64(text[16:])&mask[2] | uint64(len(cell))<<56,
	}
	hash := (at[0] ^ at[1]*0x9e3779b97f4a7c15 ^ at[2]) * 0x9e3779b97f4a7c15
	known := &c.recent.texts[hash>>(64-8)]
	if known.code != 0 && known.cell == at {
		return known.code - 1, known.fate
	}
	if code, fate = c.code(coding.ReadText(c.Coder, cell)); !fate.Refused() && code < uncoded {
		known.cell, known.code, known.fate = at, code+1, fate
	}
	return code, fate
}

func allocate[T any](p **T) { *p = new(T) }

// masks[n] has a one for each bit of the first n of 24 bytes.
var masks = func() (masks [24][3]uint64) {
	for n := range masks {
		for i := range n {
			masks[n][i/8] |= 0xff << (i % 8 * 8)
		}
	}
	return masks
}()
