// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"encoding/binary"
	"errors"
	"math"
)

var errDelta = errors.New("dataset: malformed deltas")

// deltas decodes DELTA_BINARY_PACKED one Batch at a time. The Parquet library's decoder allocates
// memory for as many values as the header claims, and a few bytes can claim 2^26; this one allocates
// nothing. A copy is an independent decoder at the same position.
type deltas struct {
	data []byte // blocks and miniblocks that have not begun
	left int    // values not yet returned
	size int    // values per miniblock
	many int    // miniblocks per block
	last uint64 // the previous value; before the first value, the value itself
	head bool   // the first value, which is in the header, has not been returned yet
	step uint64 // smallest delta of the block

	widths []byte // of the block's miniblocks that have not begun
	width  uint   // bits per value in the current miniblock
	bits   []byte // data from the current miniblock to the end
	bit    uint   // offset of its next value in bits
	packed int    // values left in the miniblock
}

// newDeltas reads at most most values from data. Empty data have no values: some writers encode a page
// of nulls so.
func newDeltas(data []byte, most int) (d deltas, err error) {
	if len(data) == 0 {
		return d, nil
	}
	var head [3]uint64 // values of a block, its miniblocks, values in all
	for i := range head {
		x, n := binary.Uvarint(data)
		if n <= 0 || x > math.MaxInt32 {
			return d, errDelta
		}
		head[i], data = x, data[n:]
	}
	first, n := binary.Varint(data)
	block, many, total := int(head[0]), int(head[1]), int(head[2])
	if n <= 0 || block == 0 || many == 0 || block%many != 0 || block/many%32 != 0 || total > most {
		return d, errDelta
	}
	return deltas{
		data: data[n:], left: total, size: block / many, many: many, last: uint64(first), head: true,
	}, nil
}

// read fills out with the next values. Sums wrap around; 32-bit values are their lowest 32 bits.
func (d *deltas) read(out []int64) error {
	if len(out) > d.left {
		return errDelta
	}
	d.left -= len(out)
	if d.head && len(out) > 0 {
		d.head = false
		out[0], out = int64(d.last), out[1:]
	}
	for len(out) > 0 {
		if d.packed == 0 {
			if err := d.beginMiniblock(len(out) + d.left); err != nil {
				return err
			}
		}
		n := min(d.packed, len(out))
		d.packed -= n
		for i := range out[:n] {
			d.last += d.step + takeBits(d.bits, d.bit, d.width)
			d.bit += d.width
			out[i] = int64(d.last)
		}
		out = out[n:]
	}
	return nil
}

// skip skips all remaining values and returns the bytes after them.
func (d *deltas) skip() ([]byte, error) {
	if d.head && d.left > 0 {
		d.head = false
		d.left--
	}
	for d.left -= min(d.packed, d.left); d.left > 0; d.left -= d.packed {
		if err := d.beginMiniblock(d.left); err != nil {
			return nil, err
		}
	}
	return d.data, nil
}

// beginMiniblock begins the next miniblock, in which at most left values are used.
func (d *deltas) beginMiniblock(left int) error {
	if len(d.widths) == 0 {
		step, n := binary.Varint(d.data)
		if n <= 0 || d.many > len(d.data)-n {
			return errDelta
		}
		d.step = uint64(step)
		d.widths, d.data = d.data[n:n+d.many], d.data[n+d.many:]
	}
	d.width, d.widths = uint(d.widths[0]), d.widths[1:]
	d.packed = min(d.size, left)
	bytes := min(d.size/8*int(d.width), len(d.data)) // the last one may lack its padding
	if d.width > 64 || d.packed*int(d.width) > 8*bytes {
		return errDelta
	}
	d.bits, d.bit = d.data, 0
	d.data = d.data[bytes:]
	return nil
}

// takeBits returns width bits, at most 64, starting at an offset.
func takeBits(bits []byte, bit, width uint) uint64 {
	bits = bits[min(bit>>3, uint(len(bits))):]
	if len(bits) < 9 {
		var end [9]byte
		copy(end[:], bits)
		bits = end[:]
	}
	shift := bit & 7
	word := binary.LittleEndian.Uint64(bits)>>shift | uint64(bits[8])<<(64-shift)
	return word & (1<<width - 1)
}

// maxJoined is the number of bytes reserved at a time for cells that share prefixes, unless the
// longest cell of their page needs more. The limit is needed because a prefix can be repeated at no
// cost.
const maxJoined = 16 << 20

// joined decodes DELTA_BYTE_ARRAY, in which a cell is a prefix of the previous cell and a suffix. No
// cell is longer than the page, which contains its parts.
type joined struct {
	prefixes, suffixes deltas
	text               []byte // suffixes not yet returned
	last               []byte // the previous cell, in room
	room               []byte
	longest            int // length of the page's longest cell
	lengths            [2][]int64
}

// newJoined also returns how many cells may be read at a time.
func newJoined(data []byte, cells int) (j *joined, most int, err error) {
	j = new(joined)
	if j.prefixes, err = newDeltas(data, cells); err != nil {
		return nil, 0, err
	}
	walk := j.prefixes
	if data, err = walk.skip(); err != nil {
		return nil, 0, err
	}
	if j.suffixes, err = newDeltas(data, cells); err != nil {
		return nil, 0, err
	}
	walk = j.suffixes
	if j.text, err = walk.skip(); err != nil {
		return nil, 0, err
	}
	if j.prefixes.left != j.suffixes.left {
		return nil, 0, errDelta
	}
	j.longest, err = j.findLongest()
	return j, max(1, min(Batch, maxJoined/max(1, j.longest))), err
}

// findLongest returns the length of the page's longest cell. It refuses lengths that exceed the text.
func (j *joined) findLongest() (longest int, err error) {
	ahead := joined{prefixes: j.prefixes, suffixes: j.suffixes}
	last, text := 0, len(j.text)
	for ahead.prefixes.left > 0 {
		prefixes, suffixes, err := ahead.readLengths(min(Batch, ahead.prefixes.left))
		if err != nil {
			return 0, err
		}
		for i, suffix := range suffixes {
			if prefix := prefixes[i]; prefix < 0 || prefix > int64(last) || suffix < 0 || suffix > int64(text) {
				return 0, errDelta
			}
			text -= int(suffix)
			last = int(prefixes[i] + suffix)
			longest = max(longest, last)
		}
	}
	return longest, nil
}

// readLengths reads n lengths of prefixes and of suffixes, valid until the next call.
func (j *joined) readLengths(n int) (prefixes, suffixes []int64, err error) {
	for i, d := range []*deltas{&j.prefixes, &j.suffixes} {
		j.lengths[i] = resizeSlice(j.lengths[i], n)
		if err := d.read(j.lengths[i]); err != nil {
			return nil, nil, err
		}
	}
	return j.lengths[0], j.lengths[1], nil
}

// read fills out with the next cells, valid until the next call. A cell that is only a prefix needs no
// memory.
func (j *joined) read(out [][]byte) error {
	prefixes, suffixes, err := j.readLengths(len(out))
	if err != nil {
		return err
	}
	need := len(j.last)
	for i, suffix := range suffixes {
		if suffix > 0 {
			need += int(prefixes[i] + suffix)
		}
	}
	room := j.room
	if need > cap(room) {
		room = make([]byte, 0, need+j.longest) // so that the next ones fit, behind the last
	}
	room = append(room[:0], j.last...) // which lies in j.room, too
	j.room, j.last = room, room
	for i := range out {
		cell := j.last[:prefixes[i]]
		if n := suffixes[i]; n > 0 {
			from := len(room)
			room = append(append(room, cell...), j.text[:n]...)
			cell, j.text = room[from:], j.text[n:]
		}
		j.last = cell[:len(cell):len(cell)]
		out[i] = j.last
	}
	return nil
}
