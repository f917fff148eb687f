// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"encoding/binary"
	"errors"
	"math"
)

var errHybrid = errors.New("dataset: malformed runs")

// hybrid decodes Parquet's RLE/bit-packing hybrid one Batch at a time. The Parquet library's decoder
// decodes whole pages and allocates memory for as many values as a run claims to hold; this one
// allocates nothing.
type hybrid struct {
	data  []byte // runs that have not begun
	width uint   // bits per value, at most 32

	repeats int // values left in a repeated run
	value   uint32

	packed int    // values left in a bit-packed run
	bits   []byte // data from the bit-packed run to the end
	bit    int    // offset of its next value in bits

	empty bool // no runs: some writers mean zeros by that
}

func newHybrid(data []byte, width uint) (*hybrid, error) {
	if width > 32 {
		return nil, errHybrid
	}
	return &hybrid{data: data, width: width, empty: len(data) == 0}, nil
}

// read fills out with the next values.
func (h *hybrid) read(out []uint32) error {
	for len(out) > 0 {
		if err := h.beginRun(); err != nil {
			return err
		}
		if n := min(h.repeats, len(out)); n > 0 {
			for i := range out[:n] {
				out[i] = h.value
			}
			h.repeats -= n
			out = out[n:]
			continue
		}
		n := min(h.packed, len(out))
		h.unpackValues(out[:n])
		h.packed -= n
		out = out[n:]
	}
	return nil
}

// allOne skips n values and returns true if the current run makes all of them 1; otherwise it does
// nothing.
func (h *hybrid) allOne(n int) (bool, error) {
	if err := h.beginRun(); err != nil {
		return false, err
	}
	if h.repeats < n || h.value != 1 {
		return false, nil
	}
	h.repeats -= n
	return true, nil
}

// beginRun ensures that the current run has values left.
func (h *hybrid) beginRun() error {
	for h.repeats == 0 && h.packed == 0 {
		if h.empty {
			h.repeats, h.value = math.MaxInt32, 0
			return nil
		}
		head, n := binary.Uvarint(h.data)
		if n <= 0 || head>>1 > math.MaxInt32 {
			return errHybrid
		}
		h.data = h.data[n:]
		if head&1 == 0 {
			bytes := int(h.width+7) / 8
			if bytes > len(h.data) {
				return errHybrid
			}
			var value [4]byte
			copy(value[:], h.data[:bytes])
			// Some writers have ones in the bits beyond the width, too.
			h.repeats, h.value = int(head>>1), uint32(uint64(binary.LittleEndian.Uint32(value[:]))&(1<<h.width-1))
			h.data = h.data[bytes:]
			continue
		}
		if h.width == 0 {
			h.repeats, h.value = int(head>>1)*8, 0
			continue
		}
		groups := int(head >> 1)
		bytes := min(groups*int(h.width), len(h.data)) // the last run may lack its padding
		h.packed = min(groups*8, bytes*8/int(h.width))
		if h.packed == 0 && groups > 0 {
			return errHybrid
		}
		h.bits, h.bit = h.data, 0
		h.data = h.data[bytes:]
	}
	return nil
}

// unpackValues reads the next values of the bit-packed run.
func (h *hybrid) unpackValues(out []uint32) {
	mask := uint64(1)<<h.width - 1
	bit, width := uint(h.bit), h.width
	h.bit += len(out) * int(width)
	// A value lies within the 8 bytes from its first one, since 7+32 bits < 64.
	whole := 0
	if limit := uint(len(h.bits)-8)*8 + 7; len(h.bits) >= 8 && bit <= limit {
		whole = min(len(out), int((limit-bit)/width)+1)
	}
	begun := 0
	if width <= 8 && bit&7 == 0 { // eight values take whole bytes of one word
		for ; begun+8 <= whole; begun += 8 {
			word := binary.LittleEndian.Uint64(h.bits[bit>>3:])
			to := (*[8]uint32)(out[begun:])
			for i := range to {
				to[i] = uint32(word & mask)
				word >>= width & 63
			}
			bit += 8 * width
		}
	}
	for i := begun; i < whole; i++ {
		word := binary.LittleEndian.Uint64(h.bits[bit>>3:])
		out[i] = uint32(word >> (bit & 7) & mask)
		bit += width
	}
	for i := whole; i < len(out); i++ {
		var end [8]byte
		copy(end[:], h.bits[bit>>3:])
		out[i] = uint32(binary.LittleEndian.Uint64(end[:]) >> (bit & 7) & mask)
		bit += width
	}
}
